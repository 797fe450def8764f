#include "compiler/Search/WorkPrices.h"

#include "compiler/Sharding/FactorDims.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace weft;
using Node = ShardingGraph::Node;

/// Extents of one device's blocks of the factors.
static int64_t localSize(const FactorRule &rule, unsigned factor, const FactorAxes &axes) {
  return localExtent(rule.factors[factor].size, axes[factor]);
}

/// The rule of a product of two operands: extents by who has the factor. None of other rules.
static std::optional<Matmul> asMatmul(const Node &node, const FactorAxes &axes) {
  const FactorRule &rule = node.rule;
  if (rule.operands.size() != 2 || rule.results.size() != 1)
    return std::nullopt;
  Matmul matmul;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    bool left = hasFactor(rule.operands[0], factor), right = hasFactor(rule.operands[1], factor);
    bool isReduction = rule.factors[factor].kind == FactorKind::Reduction;
    if (isReduction != !hasFactor(rule.results[0], factor) || (isReduction && !(left && right)))
      return std::nullopt;
    int64_t &extent = isReduction     ? matmul.k
                      : left && right ? matmul.batch
                      : left          ? matmul.m
                                      : matmul.n;
    extent *= localSize(rule, factor, axes);
  }
  return matmul.k > 1 ? std::optional(matmul) : std::nullopt;
}

double weft::getBlockBytes(const ShardingGraph &graph, const Node &node, unsigned index,
                           const FactorAxes &axes) {
  auto bytes = static_cast<double>(graph.tensors[graph.tensorsOf(node)[index]].elementBytes);
  for (const DimFactors &dim : ShardingGraph::factorsOf(node, index))
    for (unsigned factor : dim)
      bytes *= static_cast<double>(localSize(node.rule, factor, axes));
  return bytes;
}

/// The part of the whole work that a shard does.
static double getShare(const FactorRule &rule, const FactorAxes &axes) {
  double share = 1;
  for (auto [index, factor] : llvm::enumerate(rule.factors))
    share *= static_cast<double>(localSize(rule, index, axes)) /
             static_cast<double>(std::max<int64_t>(1, factor.size)); // 0 of nothing
  return share;
}

double weft::getShardSeconds(const ShardingGraph &graph, const Node &node, const NodeWork &work,
                             const FactorAxes &axes, const DeviceModel &device,
                             const CostConstants &constants) {
  bool movesOnly = node.view || (work.flops == 0 && node.operands.size() == 1);
  if (movesOnly || node.operands.empty() || node.results.empty())
    return 0;
  if (std::optional<Matmul> matmul = asMatmul(node, axes)) {
    matmul->dtype = work.dtype;
    return getProductSeconds(device, *matmul, constants);
  }
  double moved = 0;
  for (unsigned index = work.isKernel ? 0 : node.operands.size();
       index < node.operands.size() + node.results.size(); ++index)
    moved += getBlockBytes(graph, node, index, axes);
  if (work.isKernel)
    return getStreamSeconds(device, moved, constants);
  double reached = work.isOfGradients ? constants.flashBackward : constants.flashForward;
  double arithmetic =
      work.flops * getShare(node.rule, axes) / (device.getRate(work.dtype).sustained * reached);
  return std::max(arithmetic, moved / device.copy);
}
