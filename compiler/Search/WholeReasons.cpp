#include "compiler/Search/WholeReasons.h"

#include "compiler/Search/GreedyChoice.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace weft;
using Kind = WholeReason::Kind;

WholeReasons::WholeReasons(const ShardingGraph &graph, const MeshShape &mesh,
                           const Propagation &shardings, std::vector<bool> leftToPins)
    : graph(graph), mesh(mesh), shardings(shardings), leftToPins(std::move(leftToPins)),
      batch(graph) {}

/// Whether the dimension could be split as far as the tensor alone tells.
static bool isOpen(const WholeReason &reason) {
  return reason.kind == Kind::Unchosen || reason.kind == Kind::LeftToPins;
}

std::vector<WholeReason> WholeReasons::of(llvm::ArrayRef<unsigned> loads) {
  std::vector<WholeReason> reasons;
  unsigned tensor = loads.front();
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    if (mesh.axes[axis].size == 1 || shardings.get(tensor).uses(wholeAxis(mesh, axis)))
      continue;
    if (isSummed(tensor, axis))
      reasons.push_back({Kind::Summed,
                         axis,
                         std::nullopt,
                         {Obstacle::Kind::Contracted, graph.tensors[tensor].producer}});
    for (auto [dim, size] : llvm::enumerate(graph.tensors[tensor].shape))
      if (size > 1) {
        WholeReason reason = ofDimension(tensor, axis, dim);
        for (unsigned other : loads.drop_front())
          if (isOpen(reason))
            reason = ofDimension(other, axis, dim);
        reasons.push_back(reason);
      }
  }
  return reasons;
}

WholeReason WholeReasons::ofDimension(unsigned tensor, unsigned axis, unsigned dim) {
  bool takesBatch = isBatchAxis(mesh.axes[axis].name), pinned = leftToPins[axis];
  if (!pinned && takesBatch && !batch.has(tensor, dim))
    return {Kind::NoBatch, axis, dim};
  if (!pinned && !takesBatch && batch.has(tensor, dim))
    return {Kind::Batch, axis, dim};
  if (!dividesByPart(tensor, axis, dim))
    return {Kind::Indivisible, axis, dim};
  if (isMadeWhole(tensor, dim))
    return {
        Kind::MadeWhole, axis, dim, {Obstacle::Kind::NeededWhole, graph.tensors[tensor].producer}};
  int64_t size = mesh.axes[axis].size;
  auto found = fates.find(size);
  if (found == fates.end())
    found = fates.try_emplace(size, graph, size).first;
  if (!found->second.stays(tensor, dim))
    return {Kind::Met, axis, dim, found->second.obstacle(tensor, dim)};
  return {pinned ? Kind::LeftToPins : Kind::Unchosen, axis, dim};
}

bool WholeReasons::dividesByPart(unsigned tensor, unsigned axis, unsigned dim) const {
  int64_t local = graph.tensors[tensor].shape[dim] / blocks(shardings.get(tensor).dims[dim]);
  return std::gcd(local, mesh.axes[axis].size) > 1;
}

/// Whether the axis splits a factor that the tensor's node sums over.
bool WholeReasons::isSummed(unsigned tensor, unsigned axis) const {
  unsigned node = graph.tensors[tensor].producer;
  if (node == ShardingGraph::none)
    return false;
  FactorAxes split = shardings.resolve(node);
  return llvm::any_of(llvm::zip_equal(graph.nodes[node].rule.factors, split),
                      [&](const auto &pair) {
                        return std::get<0>(pair).kind == FactorKind::Reduction &&
                               overlaps(std::get<1>(pair), wholeAxis(mesh, axis));
                      });
}

/// Whether the rule of the tensor's node keeps the dimension from being split.
bool WholeReasons::isMadeWhole(unsigned tensor, unsigned dim) const {
  unsigned producer = graph.tensors[tensor].producer;
  if (producer == ShardingGraph::none)
    return false;
  const ShardingGraph::Node &node = graph.nodes[producer];
  unsigned index = llvm::find(node.results, tensor) - node.results.begin();
  unsigned factor = leadingFactor(node.rule, node.rule.results[index][dim]);
  return factor == ShardingGraph::none || node.rule.factors[factor].kind != FactorKind::Parallel;
}
