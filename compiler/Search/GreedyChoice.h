//===- GreedyChoice.h - shardings for a mesh alone --------------*- C++ -*-===//
//
// What to split when nobody said: decided node by node in topological order, in time linear in the
// graph for each axis, from the factor rules alone. Axis names carry meaning: `data`, `batch` and
// `dp` take the batch, that is dimension 0 of the inputs (of those of integers first, where no
// weights are given and some inputs may be weights), and nothing else. Every other axis, in
// the mesh's order, splits
//
// - heads: a dimension that two varying operands and the result of one contraction share, besides
//   the batch. Grouped heads take sub-axes, the groups first;
//
// - experts: a dimension that a weight, a varying operand and the result of one product share. The
//   gates that combine experts are split alike, which gives a partial sum; what is counted over all
//   experts before stays whole;
//
// - products with a weight. If the contracted dimension is split already, propagation has made the
//   weight row-parallel. Else it becomes column-parallel where that costs nothing: where all that
//   is computed from the columns ends in a product with another weight, in heads, or in an output.
//   Where columns would have to be joined at once, the weight is split if its bytes saved exceed
//   the bytes moved a step;
//
// - tables that varying indices read: their rows (a masked look-up and an all-reduce), if the bytes
//   saved exceed the bytes moved, or if another use of the weight is split so already.
//
// Where an axis does not divide a dimension, blocks are padded, and count as such: of an axis and
// its leading parts the one that leaves the shortest blocks is taken, the smallest of equals. Every
// choice is a pin: what the rest becomes, propagation says.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_GREEDYCHOICE_H
#define WEFT_COMPILER_SEARCH_GREEDYCHOICE_H

#include "compiler/Sharding/Propagation.h"

namespace weft {

/// A pin that the choice makes.
struct Choice {
  unsigned tensor;
  bool storage; ///< the tensor loads a weight, whose storage is pinned and not the load
  TensorSharding sharding;
  std::string reason;                  ///< what was weighed, for people
  int64_t bytes;                       ///< received by each device a step because of this choice
  llvm::SmallVector<unsigned, 1> axes; ///< what is new: the sharding's other axes were there before
};

/// A weight that an axis could split, and does not: what was weighed.
struct Refusal {
  unsigned tensor; ///< the load of the weight
  unsigned axis;
  std::string reason;
};

/// Chooses for the axes in `axes` (indices into the mesh), given what is pinned in `shardings`,
/// which ends up with pins and choices propagated. `weightIds` gives equal numbers to the
/// loads of one weight. Adds to `refusals`, if given, one for each weight and axis at most.
std::vector<Choice> chooseShardings(const ShardingGraph &graph, const MeshShape &mesh,
                                    llvm::ArrayRef<unsigned> axes,
                                    llvm::ArrayRef<unsigned> weightIds, Propagation &shardings,
                                    std::vector<Refusal> *refusals = nullptr);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_GREEDYCHOICE_H
