#include "compiler/Search/GreedyChoice.h"

#include "compiler/Search/DimensionFates.h"
#include "dialects/Dist/IR/Extent.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;

bool weft::isBatchAxis(llvm::StringRef name) {
  return name == "data" || name == "batch" || name == "dp";
}

namespace {
using Node = ShardingGraph::Node;
using Tensor = ShardingGraph::Tensor;

/// Where a node may be split along its weight.
struct WeightSplit {
  unsigned factor;
  unsigned result, resultDim; ///< of columns: the result's dimension
};

class Greedy {
public:
  Greedy(const ShardingGraph &graph, const MeshShape &mesh, ArrayRef<unsigned> weightIds,
         Propagation &shardings)
      : graph(graph), mesh(mesh), weightIds(weightIds), shardings(shardings) {
    findBatch();
    for (auto [tensor, weight] : llvm::enumerate(weightIds))
      if (weight != ShardingGraph::none)
        loads[weight].push_back(tensor);
  }

  void chooseBatch(unsigned axis);
  void chooseHeads(unsigned axis);
  void chooseProducts(unsigned axis);
  void chooseTables(unsigned axis);
  std::vector<Choice> take();

private:
  void findBatch();
  bool splitHeads(const Node &node, unsigned axis);
  std::optional<unsigned> headsDim(const Node &node) const;
  bool splitColumns(const Node &node, unsigned weight, unsigned axis, const DimensionFates &fates);
  void splitAnyway(const Node &node, unsigned weight, unsigned axis);
  void splitTable(const Node &node, unsigned axis, const DimensionFates &fates);

  bool usesAxis(const Node &node, unsigned axis) const;
  std::optional<unsigned> contractedWeight(const Node &node) const;
  llvm::SmallVector<WeightSplit, 2> columnSplits(const Node &node, unsigned weight,
                                                 unsigned axis) const;
  bool dividesBy(unsigned tensor, unsigned dim, unsigned axis) const;
  bool splitElsewhere(unsigned load, unsigned dim, unsigned axis) const;
  int64_t localBytes(unsigned tensor) const;
  bool seed(unsigned tensor, unsigned dim, AxisRef axis, std::string reason, int64_t bytes = 0);
  bool seedStorage(unsigned tensor, unsigned dim, AxisRef axis, std::string reason, int64_t bytes);
  void hold(unsigned tensor, std::string reason);
  std::string about(AxisRef axis, const std::string &reason) const {
    return mesh.axes[axis.axis].name + ": " + reason;
  }
  void holdPartners(const Node &node);
  unsigned loadBehind(unsigned tensor) const;
  ArrayRef<unsigned> loadsOfSameWeight(unsigned tensor) const;
  llvm::SmallVector<unsigned, 2> readersOf(unsigned load) const;
  llvm::SmallVector<unsigned, 2> otherWholeLoads(unsigned load, unsigned axis) const;
  int64_t otherLoadsCost(unsigned load, unsigned axis) const;
  void seedOtherLoads(unsigned load, AxisRef axis);
  Choice &record(unsigned tensor, bool storage, std::string reason, int64_t bytes);

  const ShardingGraph &graph;
  const MeshShape &mesh;
  ArrayRef<unsigned> weightIds;
  Propagation &shardings;
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned, 1>> loads; ///< by weight
  std::vector<llvm::BitVector> batch; ///< by tensor: the dimensions that the batch reaches
  std::vector<Choice> choices;
  llvm::DenseMap<unsigned, size_t> chosen; ///< tensors to their choices
};
} // namespace

//===----------------------------------------------------------------------===//
// Common parts
//===----------------------------------------------------------------------===//

Choice &Greedy::record(unsigned tensor, bool storage, std::string reason, int64_t bytes) {
  auto [entry, fresh] = chosen.try_emplace(tensor, choices.size());
  if (fresh)
    return choices.emplace_back(Choice{tensor, storage, {}, std::move(reason), bytes, {}});
  Choice &choice = choices[entry->second];
  choice.reason += "; " + reason;
  choice.bytes += bytes;
  return choice;
}

bool Greedy::seed(unsigned tensor, unsigned dim, AxisRef axis, std::string reason, int64_t bytes) {
  if (!shardings.seed(tensor, dim, axis))
    return false;
  record(tensor, /*storage=*/false, about(axis, reason), bytes).axes.push_back(axis.axis);
  shardings.run();
  return true;
}

/// Splits a weight or a view of one, and records the split at the load behind it.
bool Greedy::seedStorage(unsigned tensor, unsigned dim, AxisRef axis, std::string reason,
                         int64_t bytes) {
  if (!shardings.seed(tensor, dim, axis))
    return false;
  shardings.run();
  unsigned load = loadBehind(tensor);
  bool storage = shardings.get(load).uses(axis);
  // A view may have a split that its storage cannot have.
  record(storage ? load : tensor, storage, about(axis, reason), bytes).axes.push_back(axis.axis);
  if (storage)
    seedOtherLoads(load, axis);
  return true;
}

/// The load that a weight, or a view of one, comes from.
unsigned Greedy::loadBehind(unsigned tensor) const {
  while (graph.tensors[tensor].producer != ShardingGraph::none &&
         graph.nodes[graph.tensors[tensor].producer].operands.size() == 1)
    tensor = graph.nodes[graph.tensors[tensor].producer].operands.front();
  return tensor;
}

/// The nodes that compute with a weight, behind its views.
llvm::SmallVector<unsigned, 2> Greedy::readersOf(unsigned load) const {
  llvm::SmallVector<unsigned, 2> readers, tensors{load};
  while (!tensors.empty())
    for (unsigned user : graph.tensors[tensors.pop_back_val()].users) {
      const Node &node = graph.nodes[user];
      if (node.view && node.operands.size() == 1)
        tensors.append(node.results);
      else
        readers.push_back(user);
    }
  return readers;
}

/// All loads of the weight that a tensor loads; none for a tensor that is not a load itself.
ArrayRef<unsigned> Greedy::loadsOfSameWeight(unsigned tensor) const {
  if (weightIds[tensor] == ShardingGraph::none)
    return {};
  return loads.find(weightIds[tensor])->second;
}

/// The other loads of a weight that the axis does not split.
llvm::SmallVector<unsigned, 2> Greedy::otherWholeLoads(unsigned load, unsigned axis) const {
  llvm::SmallVector<unsigned, 2> others;
  llvm::copy_if(loadsOfSameWeight(load), std::back_inserter(others), [&](unsigned other) {
    return other != load && !shardings.get(other).uses(wholeAxis(mesh, axis));
  });
  return others;
}

/// What it costs at most that other loads of a weight are split too: a weight is held in one way.
int64_t Greedy::otherLoadsCost(unsigned load, unsigned axis) const {
  int64_t bytes = 0, size = mesh.axes[axis].size;
  for (unsigned other : otherWholeLoads(load, axis))
    for (unsigned reader : readersOf(other))
      bytes += 2 * (localBytes(graph.nodes[reader].results.front()) / size * (size - 1));
  return bytes;
}

/// Splits the other loads of a weight like this one, and nothing of what is computed from them.
void Greedy::seedOtherLoads(unsigned load, AxisRef axis) {
  for (unsigned other : otherWholeLoads(load, axis.axis)) {
    for (unsigned reader : readersOf(other)) {
      for (unsigned result : graph.nodes[reader].results)
        hold(result, "joined before it is used");
      holdPartners(graph.nodes[reader]);
    }
    for (auto [dim, axes] : llvm::enumerate(shardings.get(load).dims))
      if (overlaps(axes, axis))
        shardings.seed(other, dim, axis);
  }
  shardings.run();
}

/// Keeps what a weight is contracted with as it is: each device cuts its part out of it.
void Greedy::holdPartners(const Node &node) {
  for (auto [operand, factors] : llvm::zip_equal(node.operands, node.rule.operands)) {
    bool contracted = llvm::any_of(llvm::enumerate(node.rule.factors), [&](const auto &entry) {
      return entry.value().kind == FactorKind::Reduction && carries(factors, entry.index());
    });
    if (graph.tensors[operand].varying && contracted)
      hold(operand, "cut where it is used");
  }
}

/// Keeps a tensor as it is, so that a split behind it does not spread through it.
void Greedy::hold(unsigned tensor, std::string reason) {
  if (shardings.isPinned(tensor))
    return;
  shardings.pin(tensor, shardings.get(tensor));
  record(tensor, /*storage=*/false, std::move(reason), 0);
}

std::vector<Choice> Greedy::take() {
  for (Choice &choice : choices)
    choice.sharding = shardings.get(choice.tensor);
  return std::move(choices);
}

bool Greedy::dividesBy(unsigned tensor, unsigned dim, unsigned axis) const {
  int64_t count = blocks(shardings.get(tensor).dims[dim]) * mesh.axes[axis].size;
  return localExtent(graph.tensors[tensor].shape[dim], count).has_value();
}

int64_t Greedy::localBytes(unsigned tensor) const {
  return graph.tensors[tensor].bytes() / shardings.get(tensor).blockCount();
}

bool Greedy::usesAxis(const Node &node, unsigned axis) const {
  AxisRef whole = wholeAxis(mesh, axis);
  return llvm::any_of(graph.tensorsOf(node),
                      [&](unsigned tensor) { return shardings.get(tensor).uses(whole); });
}

static std::string text(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

//===----------------------------------------------------------------------===//
// The batch
//===----------------------------------------------------------------------===//

/// Follows dimension 0 of the inputs through leading parallel factors.
void Greedy::findBatch() {
  batch.reserve(graph.tensors.size());
  for (const Tensor &tensor : graph.tensors) {
    batch.emplace_back(tensor.shape.size());
    if (tensor.input && !tensor.shape.empty())
      batch.back().set(0);
  }
  for (const Node &node : graph.nodes)
    for (auto [tensor, dims] : llvm::zip_equal(node.operands, node.rule.operands))
      for (unsigned dim : batch[tensor].set_bits()) {
        unsigned factor = leadingFactor(node.rule, dims[dim]);
        if (factor == ShardingGraph::none || node.rule.factors[factor].kind != FactorKind::Parallel)
          continue;
        for (auto [result, factors] : llvm::zip_equal(node.results, node.rule.results))
          if (std::optional<unsigned> led = dimLedBy(node.rule, factors, factor))
            batch[result].set(*led);
      }
}

void Greedy::chooseBatch(unsigned axis) {
  int64_t size = 0; // of the batch: dimension 0 of the first input that has more than one
  for (const Tensor &tensor : graph.tensors)
    if (tensor.input && size == 0 && tensor.shape.size() > 1)
      size = tensor.shape.front();
  for (auto [index, tensor] : llvm::enumerate(graph.tensors))
    if (tensor.input && !tensor.shape.empty() && tensor.shape.front() == size &&
        dividesBy(index, 0, axis))
      seed(index, 0, wholeAxis(mesh, axis), "takes the batch");
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
    return entry.value().kind != FactorKind::Parallel && carries(rule.operands[0], factor) &&
           carries(rule.operands[1], factor) && !carries(rule.results[0], factor);
  });
  if (!contracts)
    return std::nullopt;
  for (auto [dim, factors] : llvm::enumerate(rule.results[0])) {
    unsigned factor = leadingFactor(rule, factors);
    if (factor != ShardingGraph::none && rule.factors[factor].kind == FactorKind::Parallel &&
        carries(rule.operands[0], factor) && carries(rule.operands[1], factor) &&
        !batch[node.results[0]].test(dim))
      return dim;
  }
  return std::nullopt;
}

bool Greedy::splitHeads(const Node &node, unsigned axis) {
  std::optional<unsigned> dim = headsDim(node);
  if (!dim)
    return false;
  unsigned result = node.results.front();
  int64_t heads = graph.tensors[result].shape[*dim], size = mesh.axes[axis].size;
  // The largest part of the axis that divides the heads factor by factor.
  for (int64_t part = size; part > 1; --part) {
    if (size % part != 0)
      continue;
    TensorSharding wanted = shardings.get(result);
    append(wanted.dims[*dim], AxisRef{axis, 1, part});
    if (!localExtent(heads, blocks(wanted.dims[*dim])) ||
        !projectToFactors(node.rule, node.rule.results.front(), wanted).exact)
      continue;
    return seed(result, *dim, {axis, 1, part},
                std::to_string(heads / blocks(wanted.dims[*dim])) + " of " + std::to_string(heads) +
                    " heads a device");
  }
  return false;
}

void Greedy::chooseHeads(unsigned axis) {
  for (const Node &node : graph.nodes)
    if (!usesAxis(node, axis))
      splitHeads(node, axis);
}

//===----------------------------------------------------------------------===//
// Products with weights
//===----------------------------------------------------------------------===//

/// The operand that is a weight and is contracted with another operand; none if there is not.
std::optional<unsigned> Greedy::contractedWeight(const Node &node) const {
  const FactorRule &rule = node.rule;
  for (auto [index, tensor] : llvm::enumerate(node.operands)) {
    if (!graph.tensors[tensor].weight)
      continue;
    for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
      if (rule.factors[factor].kind == FactorKind::Reduction &&
          carries(rule.operands[index], factor) &&
          llvm::count_if(rule.operands, [&](const TensorFactors &operand) {
            return carries(operand, factor);
          }) > 1)
        return index;
  }
  return std::nullopt;
}

/// Parallel factors of the weight that the result has too and the axis divides.
llvm::SmallVector<WeightSplit, 2> Greedy::columnSplits(const Node &node, unsigned weight,
                                                       unsigned axis) const {
  const FactorRule &rule = node.rule;
  llvm::SmallVector<WeightSplit, 2> splits;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    if (rule.factors[factor].kind != FactorKind::Parallel)
      continue;
    auto inWeight = dimLedBy(rule, rule.operands[weight], factor);
    auto inResult = dimLedBy(rule, rule.results.front(), factor);
    if (inWeight && inResult && !batch[node.results.front()].test(*inResult) &&
        dividesBy(node.operands[weight], *inWeight, axis) &&
        dividesBy(node.results.front(), *inResult, axis))
      splits.push_back({factor, node.results.front(), *inResult});
  }
  return splits;
}

bool Greedy::splitColumns(const Node &node, unsigned weight, unsigned axis,
                          const DimensionFates &fates) {
  for (const WeightSplit &split : columnSplits(node, weight, axis))
    if (fates.stays(split.result, split.resultDim) &&
        seed(split.result, split.resultDim, wholeAxis(mesh, axis),
             "column parallel at no cost: saves " +
                 text(localBytes(node.operands[weight]) / mesh.axes[axis].size *
                      (mesh.axes[axis].size - 1)) +
                 " of weight a device"))
      return true;
  return false;
}

/// Splits a weight whose result is wanted whole: by columns, joined at once (an all-gather), else
/// by rows (an all-reduce, twice the bytes), if that saves more than it moves.
void Greedy::splitAnyway(const Node &node, unsigned weight, unsigned axis) {
  int64_t size = mesh.axes[axis].size;
  unsigned tensor = node.operands[weight], result = node.results.front();
  int64_t saved = localBytes(tensor) / size * (size - 1);
  int64_t moved = localBytes(result) / size * (size - 1);
  int64_t elsewhere = otherLoadsCost(loadBehind(tensor), axis);
  auto worth = [&](const char *how, int64_t bytes) {
    return std::string(how) + ": saves " + text(saved) + " of weight a device, moves " +
           text(bytes) + " a step (whole: 0)";
  };
  const FactorRule &rule = node.rule;
  for (const WeightSplit &split : columnSplits(node, weight, axis)) {
    unsigned dim = *dimLedBy(rule, rule.operands[weight], split.factor);
    moved += elsewhere;
    if (saved <= moved)
      return;
    hold(result, "joined before it is used");
    seedStorage(tensor, dim, wholeAxis(mesh, axis), worth("columns, joined at once", moved), moved);
    return;
  }
  for (auto [dim, factors] : llvm::enumerate(rule.operands[weight])) {
    unsigned factor = leadingFactor(rule, factors);
    if (factor == ShardingGraph::none || rule.factors[factor].kind != FactorKind::Reduction ||
        !dividesBy(tensor, dim, axis) || saved <= 2 * moved + elsewhere)
      continue;
    moved = 2 * moved + elsewhere;
    hold(result, "joined before it is used");
    holdPartners(node);
    seedStorage(tensor, dim, wholeAxis(mesh, axis), worth("row parallel", moved), moved);
    return;
  }
}

void Greedy::chooseProducts(unsigned axis) {
  DimensionFates fates(graph, mesh.axes[axis].size);
  for (const Node &node : graph.nodes) {
    std::optional<unsigned> weight = contractedWeight(node);
    if (!weight || usesAxis(node, axis))
      continue;
    if (!splitColumns(node, *weight, axis, fates))
      splitAnyway(node, *weight, axis);
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Whether another load of the same weight has the dimension split by the axis.
bool Greedy::splitElsewhere(unsigned load, unsigned dim, unsigned axis) const {
  return llvm::any_of(loadsOfSameWeight(load), [&](unsigned other) {
    return overlaps(shardings.get(other).dims[dim], wholeAxis(mesh, axis));
  });
}

void Greedy::splitTable(const Node &node, unsigned axis, const DimensionFates &fates) {
  const FactorRule &rule = node.rule;
  unsigned table = node.operands.front(), result = node.results.front();
  for (const WeightSplit &split : columnSplits(node, 0, axis))
    if (fates.stays(split.result, split.resultDim) &&
        seed(split.result, split.resultDim, wholeAxis(mesh, axis), "columns of the table"))
      return;
  for (auto [dim, factors] : llvm::enumerate(rule.operands.front())) {
    unsigned factor = leadingFactor(rule, factors);
    if (factor == ShardingGraph::none || rule.factors[factor].kind != FactorKind::Reduction ||
        !dividesBy(table, dim, axis))
      continue;
    int64_t size = mesh.axes[axis].size;
    int64_t saved = localBytes(table) / size * (size - 1);
    // Where other axes split the rows already, their all-reduce only grows.
    int64_t before = blocks(shardings.get(table).dims[dim]), whole = 2 * localBytes(result);
    int64_t moved = whole / (before * size) * (before * size - 1) - whole / before * (before - 1) +
                    otherLoadsCost(loadBehind(table), axis);
    if (saved > moved || splitElsewhere(table, dim, axis))
      seedStorage(table, dim, wholeAxis(mesh, axis),
                  "rows of the table: saves " + text(saved) + " a device, moves " + text(moved) +
                      " a step (whole: 0)",
                  moved);
    return;
  }
}

/// Tables are weights that varying indices read, contracted with nothing.
void Greedy::chooseTables(unsigned axis) {
  DimensionFates fates(graph, mesh.axes[axis].size);
  for (const Node &node : graph.nodes) {
    if (node.operands.size() < 2 || !graph.tensors[node.operands[0]].weight ||
        !graph.tensors[node.operands[1]].varying || contractedWeight(node) || usesAxis(node, axis))
      continue;
    bool reads = llvm::any_of(llvm::enumerate(node.rule.factors), [&](const auto &entry) {
      return entry.value().kind == FactorKind::Reduction &&
             carries(node.rule.operands[0], entry.index());
    });
    if (reads)
      splitTable(node, axis, fates);
  }
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

std::vector<Choice> weft::chooseShardings(const ShardingGraph &graph, const MeshShape &mesh,
                                          ArrayRef<unsigned> axes, ArrayRef<unsigned> weightIds,
                                          Propagation &shardings) {
  shardings.run();
  Greedy greedy(graph, mesh, weightIds, shardings);
  for (unsigned axis : axes)
    if (isBatchAxis(mesh.axes[axis].name))
      greedy.chooseBatch(axis);
  for (unsigned axis : axes) {
    if (isBatchAxis(mesh.axes[axis].name) || mesh.axes[axis].size == 1)
      continue;
    greedy.chooseHeads(axis);
    greedy.chooseProducts(axis);
    greedy.chooseTables(axis);
  }
  return greedy.take();
}
