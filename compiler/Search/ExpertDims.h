//===- ExpertDims.h - what is computed for each expert ----------*- C++ -*-===//
//
// A weight that a product with a varying operand reads side by side (not contracted, not the batch)
// holds one matrix for each of several experts:
//
//   in  = dot(mask [t, e, c], tokens [t, m])        contracts tokens (dispatch)
//   up  = dot(in [e, c, m], weight [e, m, f])       one product for each expert
//   out = dot(gates [t, e, c], down [e, c, m])      contracts experts (combine)
//
// Everything here follows from the factor rules, in time linear in the graph.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_EXPERTDIMS_H
#define WEFT_COMPILER_SEARCH_EXPERTDIMS_H

#include "compiler/Search/SplitObstacles.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// A tensor and one of its dimensions.
using TensorDim = std::pair<unsigned, unsigned>;
using TensorDims = llvm::SetVector<TensorDim>;

/// A product of one matrix for each expert.
struct ExpertProduct {
  unsigned node;
  TensorDim weight, input, result; ///< where the experts are
};

/// Where experts are contracted with something else that is given for each of them: gates.
struct ExpertCombine {
  TensorDim experts;
  TensorDims gates;
};

class ExpertDims {
public:
  /// `batch` tells for each tensor the dimensions that the batch reaches.
  ExpertDims(const ShardingGraph &graph, const std::vector<llvm::BitVector> &batch);

  llvm::ArrayRef<ExpertProduct> products() const { return found; }

  /// Where the experts of a product are combined. None if an operation needs the experts whole.
  std::optional<llvm::SmallVector<ExpertCombine, 1>> combinesOf(const ExpertProduct &product) const;

  /// Whether a place belongs to what is computed from products of experts.
  bool isExpert(TensorDim place) const { return experts[place.first].test(place.second); }

  /// What sends tokens to the experts of a product: what its input is made of that is given for
  /// each expert, views aside.
  TensorDims dispatchMasksOf(const ExpertProduct &product) const;

  /// What a place is computed from is split with it, but for what is reduced over experts elsewhere
  /// (positions in an expert's queue): the first such places, going backwards.
  TensorDims reducedSources(TensorDim start) const;

private:
  TensorDims sourcesOf(TensorDim place) const;
  void findProducts(const std::vector<llvm::BitVector> &batch);
  void findReducedElsewhere();
  bool isReducedElsewhere(const ShardingGraph::Node &node, unsigned operand, unsigned dim) const;

  const ShardingGraph &graph;
  std::vector<ExpertProduct> found;
  std::vector<llvm::BitVector> experts; ///< by tensor: what is computed from products of experts
  std::vector<llvm::BitVector>
      reducedElsewhere; ///< by tensor: what is reduced elsewhere than in combines
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_EXPERTDIMS_H
