#include "compiler/Sharding/Propagation.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;

Propagation::Propagation(const ShardingGraph &graph)
    : graph(graph), pinned(graph.tensors.size()), queued(graph.nodes.size()) {
  shardings.reserve(graph.tensors.size());
  for (const ShardingGraph::Tensor &tensor : graph.tensors)
    shardings.push_back(TensorSharding::replicated(tensor.shape.size()));
}

void Propagation::enqueue(unsigned node) {
  if (queued[node])
    return;
  queued[node] = true;
  bool reduces = llvm::any_of(graph.nodes[node].rule.factors, [](const Factor &factor) {
    return factor.kind == FactorKind::Reduction || factor.kind == FactorKind::Permutation;
  });
  queues[reduces].push_back(node);
}

void Propagation::touch(unsigned tensor) {
  if (unsigned producer = graph.tensors[tensor].producer; producer != ShardingGraph::none)
    enqueue(producer);
  for (unsigned user : graph.tensors[tensor].users)
    enqueue(user);
}

void Propagation::pin(unsigned tensor, const TensorSharding &sharding) {
  shardings[tensor] = sharding;
  pinned[tensor] = true;
  touch(tensor);
}

void Propagation::close(unsigned tensor, unsigned dim, ArrayRef<AxisRef> axes) {
  AxisList &list = closed[{tensor, dim}];
  list.append(axes.begin(), axes.end());
}

bool Propagation::seed(unsigned tensor, unsigned dim, ArrayRef<AxisRef> axes, int64_t unit) {
  Growth reason{tensor, dim, {}, ShardingGraph::none, ShardingGraph::none};
  return grow(tensor, dim, axes, unit, reason);
}

/// Whether the dimension may be split by these axes besides those that it has.
bool Propagation::canSplit(unsigned tensor, unsigned dim, ArrayRef<AxisRef> axes,
                           int64_t unit) const {
  const TensorSharding &sharding = shardings[tensor];
  AxisList forbidden = closed.lookup({tensor, dim});
  if (overlaps(forbidden, axes) ||
      llvm::any_of(axes, [&](AxisRef axis) { return sharding.uses(axis); }))
    return false;
  int64_t size = graph.tensors[tensor].shape[dim], count = blocks(sharding.dims[dim]);
  int64_t before = localExtent(size, sharding.dims[dim]);
  int64_t after = localExtent(size, count * blocks(axes), unit);
  return after * blocks(axes) == before || (count == 1 && after < before);
}

bool Propagation::grow(unsigned tensor, unsigned dim, ArrayRef<AxisRef> axes, int64_t unit,
                       Growth reason) {
  if (pinned[tensor])
    return axes.empty();
  TensorSharding &sharding = shardings[tensor];
  auto add = [&](ArrayRef<AxisRef> more) {
    if (!canSplit(tensor, dim, more, unit))
      return false;
    AxisList list = sharding.dims[dim];
    append(list, more);
    append(reason.axes, more);
    sharding.dims[dim] = inUnits(list, graph.tensors[tensor].shape[dim], unit);
    return true;
  };
  // Blocks of several axes need not be blocks of the first.
  bool all = add(axes) || llvm::all_of(axes, [&](AxisRef axis) { return add(axis); });
  if (reason.axes.empty())
    return all;
  growths.push_back(reason);
  touch(tensor);
  return all;
}

FactorAxes Propagation::resolve(unsigned index, bool settled) const {
  const ShardingGraph::Node &node = graph.nodes[index];
  llvm::SmallVector<TensorState, 4> states;
  for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node)))
    states.push_back({&ShardingGraph::factorsOf(node, position), &shardings[tensor],
                      graph.tensors[tensor].bytes(), graph.tensors[tensor].weight,
                      !settled && !pinned[tensor], pinned[tensor], graph.batchAxes});
  return resolveFactors(node.rule, states);
}

/// The tensor of the node from which `target` has `axes`: the first other one that is split by
/// them.
unsigned Propagation::sourceOf(unsigned node, unsigned target, ArrayRef<AxisRef> axes) const {
  for (unsigned tensor : graph.tensorsOf(graph.nodes[node]))
    if (tensor != target && llvm::any_of(shardings[tensor].dims,
                                         [&](const AxisList &dim) { return overlaps(dim, axes); }))
      return tensor;
  return ShardingGraph::none;
}

void Propagation::visit(unsigned index) {
  const ShardingGraph::Node &node = graph.nodes[index];
  FactorAxes axes = resolve(index, /*settled=*/false);
  for (auto [position, tensor] : llvm::enumerate(graph.tensorsOf(node))) {
    if (pinned[tensor])
      continue;
    TensorSharding wanted =
        factorsToSharding(node.rule, ShardingGraph::factorsOf(node, position), axes).sharding;
    for (auto [dim, list] : llvm::enumerate(wanted.dims)) {
      std::optional<AxisList> more = rest(list, shardings[tensor].dims[dim]);
      if (!more || more->empty())
        continue;
      unsigned at = dim;
      grow(tensor, at, *more, list.unit, {tensor, at, {}, index, sourceOf(index, tensor, *more)});
    }
  }
}

void Propagation::run() {
  while (!queues[0].empty() || !queues[1].empty()) {
    std::deque<unsigned> &queue = queues[queues[0].empty()];
    unsigned node = queue.front();
    queue.pop_front();
    queued[node] = false;
    visit(node);
  }
}
