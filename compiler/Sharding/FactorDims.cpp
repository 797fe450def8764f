#include "compiler/Sharding/FactorDims.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;

unsigned weft::leadingFactor(const FactorRule &rule, const DimFactors &dim) {
  for (unsigned factor : dim)
    if (rule.factors[factor].size > 1)
      return factor;
  return ShardingGraph::none;
}

std::optional<unsigned> weft::dimLedBy(const FactorRule &rule, const TensorFactors &tensor,
                                       unsigned factor) {
  for (auto [index, dim] : llvm::enumerate(tensor))
    if (leadingFactor(rule, dim) == factor)
      return index;
  return std::nullopt;
}

bool weft::hasFactor(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor,
                      [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
}
