//===- ExpertPlaces.h - what is computed for each expert --------*- C++ -*-===//
//
// A weight that a product with a varying operand reads side by side (not contracted, not the batch)
// holds one matrix for each of several experts:
//
//   in  = dot(mask [t, e, c], tokens [t, m])        contracts tokens (dispatch)
//   up  = dot(in [e, c, m], weight [e, m, f])       one product for each expert
//   out = dot(gates [t, e, c], down [e, c, m])      contracts experts: a join (combine)
//
// Everything here follows from the factor rules, in time linear in the graph.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_EXPERTPLACES_H
#define WEFT_COMPILER_SEARCH_EXPERTPLACES_H

#include "compiler/Search/DimensionFates.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// A tensor and one of its dimensions.
using TensorPlace = std::pair<unsigned, unsigned>;
using TensorPlaces = llvm::SetVector<TensorPlace>;

/// A product of one matrix for each expert.
struct ExpertProduct {
  unsigned node;
  TensorPlace weight, input, result; ///< where the experts are
};

/// Where experts are contracted with something else that is given for each of them: gates.
struct ExpertJoin {
  TensorPlace experts;
  TensorPlaces gates;
};

class ExpertPlaces {
public:
  /// `batch` tells for each tensor the dimensions that the batch reaches.
  ExpertPlaces(const ShardingGraph &graph, const std::vector<llvm::BitVector> &batch);

  llvm::ArrayRef<ExpertProduct> products() const { return found; }

  /// Where the experts of a product are joined. None if an operation needs the experts whole.
  std::optional<llvm::SmallVector<ExpertJoin, 1>> joinsOf(const ExpertProduct &product) const;

  /// Whether a place belongs to what is computed from products of experts.
  bool isExpert(TensorPlace place) const { return experts[place.first].test(place.second); }

  /// What sends tokens to the experts of a product: what its input is made of that is given for
  /// each expert, views aside.
  TensorPlaces masksOf(const ExpertProduct &product) const;

  /// What a place is computed from is split with it, but for what is reduced over experts elsewhere
  /// (positions in an expert's queue): the first such places, going backwards.
  TensorPlaces wholeBehind(TensorPlace start) const;

private:
  TensorPlaces sourcesOf(TensorPlace place) const;
  void findProducts(const std::vector<llvm::BitVector> &batch);
  void findLeaks();
  bool leaksThrough(const ShardingGraph::Node &node, unsigned operand, unsigned dim) const;

  const ShardingGraph &graph;
  std::vector<ExpertProduct> found;
  std::vector<llvm::BitVector> experts; ///< by tensor: what is computed from products of experts
  std::vector<llvm::BitVector> leaks;   ///< by tensor: what is reduced elsewhere than in joins
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_EXPERTPLACES_H
