//===- ReplicationReasons.h - why a dimension is not split ------*- C++ -*-===//
//
// The other half of "why is this value split so": for the axes that split nothing of a tensor, what
// stood in the way of each dimension: the
// batch, what is split already, and what becomes of a split behind the tensor (SplitObstacles.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_REPLICATIONREASONS_H
#define WEFT_COMPILER_SEARCH_REPLICATIONREASONS_H

#include "compiler/Search/SplitObstacles.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/Propagation.h"
#include <map>

namespace weft {

struct ReplicationReason {
  enum class Kind {
    Summed,             ///< of the whole tensor: its node sums over what the axis splits
    PinnedAxis,         ///< a pin mentions the axis: the choice leaves it alone
    NoBatch,            ///< the axis takes the batch, which this dimension is not
    Batch,              ///< the dimension is the batch, which the axis does not take
    Indivisible,        ///< into parts of the blocks that other axes make of it
    ProducedReplicated, ///< the tensor's node makes the dimension whole
    NeedsReshard,       ///< a split would meet `obstacle`
    NotChosen,          ///< a split would be legal, but nothing that the choice splits leads to it
  };
  Kind kind;
  unsigned axis;
  std::optional<unsigned> dim; ///< none: of the whole tensor
  Obstacle obstacle =
      {}; ///< the node of Summed, ProducedReplicated and NeedsReshard, and what is the matter
};

class ReplicationReasons {
public:
  /// `pinnedAxes` tells for each axis of the mesh whether a pin mentions it.
  ReplicationReasons(const ShardingGraph &graph, const MeshShape &mesh,
                     const Propagation &shardings, std::vector<bool> pinnedAxes);

  /// For each axis that splits nothing of the tensor, what becomes of its dimensions that have more
  /// than one element. The loads of one weight are one tensor.
  std::vector<ReplicationReason> of(llvm::ArrayRef<unsigned> loads);

private:
  ReplicationReason ofDimension(unsigned tensor, unsigned axis, unsigned dim);
  bool mayShorten(unsigned tensor, unsigned axis, unsigned dim) const;
  bool isSummed(unsigned tensor, unsigned axis) const;
  bool isProducedReplicated(unsigned tensor, unsigned dim) const;

  const ShardingGraph &graph;
  const MeshShape &mesh;
  const Propagation &shardings;
  std::vector<bool> pinnedAxes;
  BatchDimensions batch;
  std::map<int64_t, SplitObstacles> obstacles; ///< by number of blocks
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_REPLICATIONREASONS_H
