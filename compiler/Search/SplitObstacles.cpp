#include "compiler/Search/SplitObstacles.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;

SplitObstacles::SplitObstacles(const ShardingGraph &graph, int64_t count)
    : graph(graph), count(count) {
  obstacles.reserve(graph.tensors.size());
  for (const ShardingGraph::Tensor &tensor : graph.tensors)
    obstacles.emplace_back(tensor.shape.size());
  for (unsigned node = graph.nodes.size(); node-- > 0;)
    for (auto [operand, tensor] : llvm::enumerate(graph.nodes[node].operands))
      for (unsigned dim = 0; dim < obstacles[tensor].size(); ++dim)
        if (Obstacle found = obstacleIn(node, operand, dim); found.kind != Obstacle::Kind::None)
          obstacles[tensor][dim] = found;
}

/// What a split of the operand's dimension meets in the node, or behind it.
Obstacle SplitObstacles::obstacleIn(unsigned index, unsigned operand, unsigned dim) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  const FactorRule &rule = node.rule;
  unsigned factor = leadingFactor(rule, rule.operands[operand][dim]);
  if (factor == ShardingGraph::none || node.results.empty()) // what is stored stays as it is
    return {};
  FactorKind kind = rule.factors[factor].kind;
  if (kind == FactorKind::Reduction) {
    bool withWeight =
        llvm::any_of(llvm::zip_equal(node.operands, rule.operands), [&](const auto &pair) {
          return graph.tensors[std::get<0>(pair)].weight && hasFactor(std::get<1>(pair), factor);
        });
    if (!withWeight)
      return {Obstacle::Kind::Contracted, index};
  } else if (kind != FactorKind::Parallel) {
    return {Obstacle::Kind::NeedsReplication, index};
  }
  // Blocks that do not divide the factor are no blocks of a dimension that it shares with others.
  if (isPadded(rule.factors[factor].size, count) &&
      leadingFactorOf(rule, rule.operands[operand][dim])->unit != 1)
    return {Obstacle::Kind::Indivisible, index};
  if (kind == FactorKind::Reduction)
    return {};
  bool found = false;
  for (auto [tensor, factors] : llvm::zip_equal(node.results, rule.results)) {
    if (!hasFactor(factors, factor))
      continue;
    std::optional<unsigned> led = dimLedBy(rule, factors, factor);
    if (!led)
      return {Obstacle::Kind::Minor, index};
    if (!isReshardFree(tensor, *led))
      return obstacles[tensor][*led];
    found = true;
  }
  return found ? Obstacle() : Obstacle{Obstacle::Kind::NeedsReplication, index};
}
