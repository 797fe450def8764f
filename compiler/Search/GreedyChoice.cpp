#include "compiler/Search/Greedy.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;
using Node = ShardingGraph::Node;

//===----------------------------------------------------------------------===//
// Common parts
//===----------------------------------------------------------------------===//

Greedy::Greedy(const ShardingGraph &graph, const MeshShape &mesh, ArrayRef<unsigned> weightIds,
               Propagation &shardings)
    : graph(graph), mesh(mesh), weightIds(weightIds), shardings(shardings), batch(graph),
      experts(graph, batch.all()) {
  for (auto [tensor, weight] : llvm::enumerate(weightIds))
    if (weight != ShardingGraph::none)
      loads[weight].push_back(tensor);
}

Choice &Greedy::record(unsigned tensor, bool storage, std::string reason, int64_t bytes) {
  auto [entry, fresh] = chosen.try_emplace(tensor, choices.size());
  if (fresh)
    return choices.emplace_back(Choice{tensor, storage, {}, std::move(reason), bytes, {}});
  Choice &choice = choices[entry->second];
  choice.reason += "; " + reason;
  choice.bytes += bytes;
  return choice;
}

bool Greedy::seed(unsigned tensor, unsigned dim, AxisRef axis, std::string reason, int64_t bytes,
                  int64_t unit) {
  if (!shardings.seed(tensor, dim, axis, unit))
    return false;
  record(tensor, /*storage=*/false, describeChoice(axis, reason), bytes).axes.push_back(axis.axis);
  shardings.run();
  return true;
}

/// Keeps a tensor as it is, so that a split behind it does not spread through it.
void Greedy::pinCurrent(unsigned tensor, std::string reason) {
  if (shardings.isPinned(tensor))
    return;
  shardings.pin(tensor, shardings.get(tensor));
  record(tensor, /*storage=*/false, std::move(reason), 0);
}

/// Notes that a weight is left whole for good reason. Of the parts of an axis the first that is
/// tried, the whole, is weighed for people.
void Greedy::refuse(unsigned weight, AxisRef axis, std::string reason) {
  if (axis == fullAxis(mesh, axis.axis))
    refusals.push_back({loadBehind(weight), axis.axis, std::move(reason)});
}

/// Those that hold in the end: a weight may have been split for another product's sake.
std::vector<Refusal> Greedy::takeRefusals() {
  llvm::DenseSet<std::pair<unsigned, unsigned>> seen;
  llvm::erase_if(refusals, [&](const Refusal &refusal) {
    return shardings.get(refusal.tensor).uses(fullAxis(mesh, refusal.axis)) ||
           !seen.insert({refusal.tensor, refusal.axis}).second;
  });
  return std::move(refusals);
}

std::vector<Choice> Greedy::take() {
  recordUnsplit();
  for (Choice &choice : choices)
    choice.sharding = shardings.get(choice.tensor);
  return std::move(choices);
}

/// The divisors of `size` that are larger than 1, the largest first.
static llvm::SmallVector<int64_t, 8> divisorsOf(int64_t size) {
  llvm::SmallVector<int64_t, 8> divisors;
  for (int64_t divisor = 1; divisor * divisor <= size; ++divisor) {
    if (size % divisor != 0)
      continue;
    if (size / divisor > 1)
      divisors.push_back(size / divisor);
    if (divisor * divisor != size && divisor > 1)
      divisors.push_back(divisor);
  }
  llvm::sort(divisors, std::greater<>());
  return divisors;
}

/// The axis, then ever smaller leading parts of it.
llvm::SmallVector<AxisRef, 8> Greedy::partsOf(unsigned axis) const {
  llvm::SmallVector<AxisRef, 8> parts;
  for (int64_t size : divisorsOf(mesh.axes[axis].size))
    parts.push_back({axis, 1, size});
  return parts;
}

/// Whether a part of an axis makes blocks shorter, and no smaller part does as much: 12 heads are
/// split by 8 (2 each on 6 devices), 4 heads by 4 of 8. What is split already is cut into equal
/// parts alone.
static bool shortens(int64_t size, const AxisList &now, AxisRef part, const MeshAxis &axis) {
  int64_t count = blocks(now), before = localExtent(size, now);
  int64_t after = localExtent(size, count * part.size, now.unit);
  if (count > 1 && after * part.size != before)
    return false;
  return after < before && llvm::all_of(
                               divisorsOf(axis.size),
                               [&](int64_t fewer) {
                                 return fewer >= part.size ||
                                        localExtent(size, count * fewer, now.unit) > after;
                               });
}

const SplitObstacles &Greedy::obstaclesFor(int64_t count) {
  auto found = obstacles.find(count);
  return found == obstacles.end() ? obstacles.try_emplace(count, graph, count).first->second
                                  : found->second;
}

bool Greedy::shortens(unsigned tensor, unsigned dim, AxisRef axis) const {
  return ::shortens(graph.tensors[tensor].shape[dim], shardings.get(tensor).dims[dim], axis,
                    mesh.axes[axis.axis]);
}

int64_t Greedy::localBytes(unsigned tensor) const {
  const Tensor &described = graph.tensors[tensor];
  return described.elementBytes * shardings.get(tensor).localElements(described.shape);
}

/// Bytes that a device holds less of the tensor where the axis splits it further.
int64_t Greedy::savedBytes(unsigned tensor, unsigned dim, AxisRef axis) const {
  const AxisList &now = shardings.get(tensor).dims[dim];
  int64_t size = graph.tensors[tensor].shape[dim], before = localExtent(size, now);
  int64_t after = localExtent(size, blocks(now) * axis.size, now.unit);
  return localBytes(tensor) / before * (before - after);
}

bool Greedy::usesAxis(const Node &node, unsigned axis) const {
  AxisRef whole = fullAxis(mesh, axis);
  return llvm::any_of(graph.tensorsOf(node),
                      [&](unsigned tensor) { return shardings.get(tensor).uses(whole); });
}

//===----------------------------------------------------------------------===//
// The batch
//===----------------------------------------------------------------------===//

/// The inputs that bring the batch, and the part of the axis that makes its blocks shortest.
llvm::SmallVector<std::pair<unsigned, AxisRef>, 2>
Greedy::batchSplits(unsigned axis, const Propagation &values) const {
  llvm::SmallVector<std::pair<unsigned, AxisRef>, 2> splits;
  if (!isBatchAxis(mesh.axes[axis].name))
    return splits;
  for (auto [index, tensor] : llvm::enumerate(graph.tensors)) {
    if (!batch.isBatchInput(tensor))
      continue;
    for (AxisRef part : partsOf(axis))
      if (::shortens(batch.size(), values.get(index).dims[tensor.batchDim], part,
                     mesh.axes[axis])) {
        splits.push_back({static_cast<unsigned>(index), part});
        break;
      }
  }
  return splits;
}

void Greedy::chooseBatch(unsigned axis) {
  for (auto [input, part] : batchSplits(axis, shardings))
    seed(input, graph.tensors[input].batchDim, part, "takes the batch");
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// The dimension of the first result that a contraction of two varying operands runs side by side,
/// besides the batch.
std::optional<unsigned> Greedy::headsDim(const Node &node) const {
  const FactorRule &rule = node.rule;
  if (node.operands.size() < 2 || !graph.tensors[node.operands[0]].varying ||
      !graph.tensors[node.operands[1]].varying)
    return std::nullopt;
  bool contracts = llvm::any_of(llvm::enumerate(rule.factors), [&](const auto &entry) {
    unsigned factor = entry.index();
    return entry.value().kind != FactorKind::Parallel && hasFactor(rule.operands[0], factor) &&
           hasFactor(rule.operands[1], factor) && !hasFactor(rule.results[0], factor);
  });
  if (!contracts)
    return std::nullopt;
  for (auto [dim, factors] : llvm::enumerate(rule.results[0])) {
    unsigned factor = leadingFactor(rule, factors);
    if (factor != ShardingGraph::none && rule.factors[factor].kind == FactorKind::Parallel &&
        hasFactor(rule.operands[0], factor) && hasFactor(rule.operands[1], factor) &&
        !batch.has(node.results[0], dim))
      return dim;
  }
  return std::nullopt;
}

/// How the axis would split heads: factor by factor, or groups of them padded.
AxisList Greedy::headsAxes(const Node &node, unsigned dim, AxisRef axis) const {
  unsigned result = node.results.front();
  int64_t heads = graph.tensors[result].shape[dim];
  TensorSharding wanted = shardings.get(result);
  append(wanted.dims[dim], axis);
  if (isPadded(heads, wanted.dims[dim]) ||
      !projectToFactors(node.rule, node.rule.results.front(), wanted).exact)
    return inUnits(wanted.dims[dim], heads,
                   leadingFactorOf(node.rule, node.rule.results.front()[dim])->unit);
  return wanted.dims[dim];
}

bool Greedy::splitHeads(const Node &node, unsigned axis) {
  std::optional<unsigned> dim = headsDim(node);
  if (!dim)
    return false;
  unsigned result = node.results.front();
  int64_t heads = graph.tensors[result].shape[*dim];
  // The part of the axis that leaves fewest heads, of equal ones the smallest.
  std::optional<AxisRef> best;
  int64_t fewest = localExtent(heads, shardings.get(result).dims[*dim]);
  for (AxisRef part : partsOf(axis))
    if (int64_t left = localExtent(heads, headsAxes(node, *dim, part));
        left < fewest || (best && left == fewest)) {
      best = part;
      fewest = left;
    }
  return best && seed(result, *dim, *best,
                      std::to_string(fewest) + " of " + std::to_string(heads) + " heads a device",
                      /*bytes=*/0, headsAxes(node, *dim, *best).unit);
}

void Greedy::chooseHeads(unsigned axis) {
  for (const Node &node : graph.nodes)
    if (!usesAxis(node, axis))
      splitHeads(node, axis);
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

std::vector<Choice> weft::chooseShardings(const ShardingGraph &graph, const MeshShape &mesh,
                                          ArrayRef<unsigned> axes, ArrayRef<unsigned> weightIds,
                                          Propagation &shardings, std::vector<Refusal> *refusals) {
  Greedy greedy(graph, mesh, weightIds, shardings);
  greedy.prepareExperts(axes);
  shardings.run();
  greedy.propagatePinnedExperts();
  for (unsigned axis : axes)
    greedy.chooseBatch(axis);
  for (unsigned axis : axes) {
    if (isBatchAxis(mesh.axes[axis].name) || mesh.axes[axis].size == 1)
      continue;
    greedy.chooseHeads(axis);
    greedy.chooseExperts(axis);
    greedy.chooseProducts(axis);
    greedy.chooseTables(axis);
  }
  if (refusals)
    *refusals = greedy.takeRefusals();
  return greedy.take();
}
