#include "compiler/Search/DimensionFates.h"

#include "dialects/Dist/IR/Extent.h"
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

bool weft::carries(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor,
                      [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
}

DimensionFates::DimensionFates(const ShardingGraph &graph, int64_t count)
    : graph(graph), count(count) {
  fates.reserve(graph.tensors.size());
  for (const ShardingGraph::Tensor &tensor : graph.tensors)
    fates.emplace_back(tensor.shape.size(), true);
  for (const ShardingGraph::Node &node : llvm::reverse(graph.nodes))
    for (auto [operand, tensor] : llvm::enumerate(node.operands))
      for (unsigned dim = 0; dim < fates[tensor].size(); ++dim)
        if (!staysThrough(node, operand, dim))
          fates[tensor].reset(dim);
}

bool DimensionFates::staysThrough(const ShardingGraph::Node &node, unsigned operand,
                                  unsigned dim) const {
  const FactorRule &rule = node.rule;
  unsigned factor = leadingFactor(rule, rule.operands[operand][dim]);
  if (factor == ShardingGraph::none)
    return true;
  if (!localExtent(rule.factors[factor].size, count))
    return false;
  if (rule.factors[factor].kind == FactorKind::Reduction)
    return llvm::any_of(llvm::zip_equal(node.operands, rule.operands), [&](const auto &pair) {
      return graph.tensors[std::get<0>(pair)].weight && carries(std::get<1>(pair), factor);
    });
  if (rule.factors[factor].kind != FactorKind::Parallel)
    return false;
  bool found = false;
  for (auto [tensor, factors] : llvm::zip_equal(node.results, rule.results)) {
    if (!carries(factors, factor))
      continue;
    std::optional<unsigned> led = dimLedBy(rule, factors, factor);
    if (!led || !fates[tensor].test(*led))
      return false;
    found = true;
  }
  return found;
}
