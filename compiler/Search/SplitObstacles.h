//===- SplitObstacles.h - where a split dimension ends ----------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_SPLITOBSTACLES_H
#define WEFT_COMPILER_SEARCH_SPLITOBSTACLES_H

#include "compiler/Sharding/FactorDims.h"
#include "compiler/Sharding/ShardingGraph.h"

namespace weft {

/// The node at which the split of a dimension would have to be undone, and why.
struct Obstacle {
  enum class Kind {
    None,
    Indivisible,      ///< the factor, one of several of a dimension, does not divide
    NeedsReplication, ///< by a normalisation, a softmax, a window
    Contracted,       ///< with no weight: the sums would have to be joined
    Minor,            ///< in the result it is inside of a dimension, behind others
  };
  Kind kind = Kind::None;
  unsigned node = ShardingGraph::none;
};

/// For every dimension of every tensor: whether a split in `count` blocks can stay, through all
/// that is computed from it, until a product with a weight contracts it or the program ends. A
/// split that meets an operation that needs the dimension whole (a normalisation, a softmax), or
/// that is contracted without a weight, would have to be undone.
class SplitObstacles {
public:
  SplitObstacles(const ShardingGraph &graph, int64_t count);
  bool isReshardFree(unsigned tensor, unsigned dim) const {
    return obstacle(tensor, dim).kind == Obstacle::Kind::None;
  }
  /// What the split meets first; of kind None if it can stay.
  const Obstacle &obstacle(unsigned tensor, unsigned dim) const { return obstacles[tensor][dim]; }

private:
  Obstacle obstacleIn(unsigned node, unsigned operand, unsigned dim) const;

  const ShardingGraph &graph;
  int64_t count;
  std::vector<llvm::SmallVector<Obstacle, 4>> obstacles;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SPLITOBSTACLES_H
