#include "compiler/Search/ReplicationReasons.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace weft;
using Kind = ReplicationReason::Kind;

ReplicationReasons::ReplicationReasons(const ShardingGraph &graph, const MeshShape &mesh,
                                       const Propagation &shardings, std::vector<bool> pinnedAxes)
    : graph(graph), mesh(mesh), shardings(shardings), pinnedAxes(std::move(pinnedAxes)),
      batch(graph) {}

/// Whether the dimension could be split as far as the tensor alone tells.
static bool isOpen(const ReplicationReason &reason) {
  return reason.kind == Kind::NotChosen || reason.kind == Kind::PinnedAxis;
}

std::vector<ReplicationReason> ReplicationReasons::of(llvm::ArrayRef<unsigned> loads) {
  std::vector<ReplicationReason> reasons;
  unsigned tensor = loads.front();
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    if (mesh.axes[axis].size == 1 || shardings.get(tensor).uses(fullAxis(mesh, axis)))
      continue;
    if (isSummed(tensor, axis))
      reasons.push_back({Kind::Summed,
                         axis,
                         std::nullopt,
                         {Obstacle::Kind::Contracted, graph.tensors[tensor].producer}});
    for (auto [dim, size] : llvm::enumerate(graph.tensors[tensor].shape))
      if (size > 1) {
        ReplicationReason reason = ofDimension(tensor, axis, dim);
        for (unsigned other : loads.drop_front())
          if (isOpen(reason))
            reason = ofDimension(other, axis, dim);
        reasons.push_back(reason);
      }
  }
  return reasons;
}

ReplicationReason ReplicationReasons::ofDimension(unsigned tensor, unsigned axis, unsigned dim) {
  bool takesBatch = isBatchAxis(mesh.axes[axis].name), pinned = pinnedAxes[axis];
  if (!pinned && takesBatch && !batch.has(tensor, dim))
    return {Kind::NoBatch, axis, dim};
  if (!pinned && !takesBatch && batch.has(tensor, dim))
    return {Kind::Batch, axis, dim};
  if (!mayShorten(tensor, axis, dim))
    return {Kind::Indivisible, axis, dim};
  if (isProducedReplicated(tensor, dim))
    return {Kind::ProducedReplicated,
            axis,
            dim,
            {Obstacle::Kind::NeedsReplication, graph.tensors[tensor].producer}};
  int64_t size = mesh.axes[axis].size;
  auto found = obstacles.find(size);
  if (found == obstacles.end())
    found = obstacles.try_emplace(size, graph, size).first;
  if (!found->second.isReshardFree(tensor, dim))
    return {Kind::NeedsReshard, axis, dim, found->second.obstacle(tensor, dim)};
  return {pinned ? Kind::PinnedAxis : Kind::NotChosen, axis, dim};
}

/// Whether any part of the axis makes the dimension's blocks shorter: those that there are already
/// are cut into equal parts alone.
bool ReplicationReasons::mayShorten(unsigned tensor, unsigned axis, unsigned dim) const {
  const AxisList &axes = shardings.get(tensor).dims[dim];
  int64_t local = localExtent(graph.tensors[tensor].shape[dim], axes);
  return axes.empty() ? local > 1 : std::gcd(local / axes.unit, mesh.axes[axis].size) > 1;
}

/// Whether the axis splits a factor that the tensor's node sums over.
bool ReplicationReasons::isSummed(unsigned tensor, unsigned axis) const {
  unsigned node = graph.tensors[tensor].producer;
  if (node == ShardingGraph::none)
    return false;
  FactorAxes split = shardings.resolve(node);
  return llvm::any_of(llvm::zip_equal(graph.nodes[node].rule.factors, split),
                      [&](const auto &pair) {
                        return std::get<0>(pair).kind == FactorKind::Reduction &&
                               overlaps(std::get<1>(pair), fullAxis(mesh, axis));
                      });
}

/// Whether the rule of the tensor's node keeps the dimension from being split.
bool ReplicationReasons::isProducedReplicated(unsigned tensor, unsigned dim) const {
  unsigned producer = graph.tensors[tensor].producer;
  if (producer == ShardingGraph::none)
    return false;
  const ShardingGraph::Node &node = graph.nodes[producer];
  unsigned index = llvm::find(node.results, tensor) - node.results.begin();
  unsigned factor = leadingFactor(node.rule, node.rule.results[index][dim]);
  return factor == ShardingGraph::none || node.rule.factors[factor].kind != FactorKind::Parallel;
}
