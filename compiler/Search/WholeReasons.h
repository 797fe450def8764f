//===- WholeReasons.h - why a dimension is not split ------------*- C++ -*-===//
//
// The other half of "why is this value split so": for the axes that split nothing of a tensor, what
// stood in the way of each dimension. Says what the greedy choice went by (GreedyChoice.h): the
// batch, what divides, and what becomes of a split behind the tensor (DimensionFates.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_WHOLEREASONS_H
#define WEFT_COMPILER_SEARCH_WHOLEREASONS_H

#include "compiler/Search/BatchDimensions.h"
#include "compiler/Search/DimensionFates.h"
#include "compiler/Sharding/Propagation.h"
#include <map>

namespace weft {

struct WholeReason {
  enum class Kind {
    Summed,      ///< of the whole tensor: its node sums over what the axis splits
    LeftToPins,  ///< a pin mentions the axis: the choice leaves it alone
    NoBatch,     ///< the axis takes the batch, which this dimension is not
    Batch,       ///< the dimension is the batch, which the axis does not take
    Indivisible, ///< by any part of the axis
    MadeWhole,   ///< the tensor's node makes the dimension whole
    Met,         ///< a split would meet `obstacle`
    Unchosen,    ///< a split would be legal, but nothing that the choice splits leads to it
  };
  Kind kind;
  unsigned axis;
  std::optional<unsigned> dim; ///< none: of the whole tensor
  Obstacle obstacle = {};      ///< the node of Summed, MadeWhole and Met, and what is the matter
};

class WholeReasons {
public:
  /// `leftToPins` tells for each axis of the mesh whether a pin mentions it.
  WholeReasons(const ShardingGraph &graph, const MeshShape &mesh, const Propagation &shardings,
               std::vector<bool> leftToPins);

  /// For each axis that splits nothing of the tensor, what becomes of its dimensions that have more
  /// than one element. The loads of one weight are one tensor.
  std::vector<WholeReason> of(llvm::ArrayRef<unsigned> loads);

private:
  WholeReason ofDimension(unsigned tensor, unsigned axis, unsigned dim);
  bool dividesByPart(unsigned tensor, unsigned axis, unsigned dim) const;
  bool isSummed(unsigned tensor, unsigned axis) const;
  bool isMadeWhole(unsigned tensor, unsigned dim) const;

  const ShardingGraph &graph;
  const MeshShape &mesh;
  const Propagation &shardings;
  std::vector<bool> leftToPins;
  BatchDimensions batch;
  std::map<int64_t, DimensionFates> fates; ///< by number of blocks
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_WHOLEREASONS_H
