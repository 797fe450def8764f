// The greedy choice's weights: products split by columns or rows, and tables.

#include "compiler/Cost/Traffic.h"
#include "compiler/Search/Greedy.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;
using Node = ShardingGraph::Node;

static std::string text(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

static std::string refusedTrade(const std::string &how, int64_t saved, int64_t moved) {
  return how + ": would save " + text(saved) + " of weight a device, but move " + text(moved) +
         " a step";
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Splits a weight or a view of one, and records the split at the load behind it.
bool Greedy::seedStorage(unsigned tensor, unsigned dim, AxisRef axis, std::string reason,
                         int64_t bytes) {
  if (!shardings.seed(tensor, dim, axis))
    return false;
  shardings.run();
  unsigned load = loadBehind(tensor);
  bool storage = shardings.get(load).uses(axis);
  // A view may have a split that its storage cannot have.
  record(storage ? load : tensor, storage, describeChoice(axis, reason), bytes)
      .axes.push_back(axis.axis);
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
llvm::SmallVector<unsigned, 2> Greedy::otherUnsplitLoads(unsigned load, AxisRef axis) const {
  llvm::SmallVector<unsigned, 2> others;
  llvm::copy_if(loadsOfSameWeight(load), std::back_inserter(others),
                [&](unsigned other) { return other != load && !shardings.get(other).uses(axis); });
  return others;
}

/// What it costs at most that other loads of a weight are split too: a weight is held in one way.
int64_t Greedy::otherLoadsCost(unsigned load, AxisRef axis) const {
  int64_t bytes = 0, size = axis.size;
  for (unsigned other : otherUnsplitLoads(load, axis))
    for (unsigned reader : readersOf(other))
      if (const Node &node = graph.nodes[reader]; !node.results.empty()) // stores have none
        bytes += getRankTraffic(CollectiveKind::AllReduce, size, localBytes(node.results.front()));
  return bytes;
}

/// Splits the other loads of a weight like this one, and nothing of what is computed from them.
void Greedy::seedOtherLoads(unsigned load, AxisRef axis) {
  for (unsigned other : otherUnsplitLoads(load, axis)) {
    for (unsigned reader : readersOf(other)) {
      for (unsigned result : graph.nodes[reader].results)
        pinCurrent(result, "joined before it is used");
      pinCoOperands(graph.nodes[reader]);
    }
    for (auto [dim, axes] : llvm::enumerate(shardings.get(load).dims))
      if (overlaps(axes, axis))
        shardings.seed(other, dim, axis);
  }
  shardings.run();
}

/// Keeps what a weight is contracted with as it is: each device cuts its part out of it.
void Greedy::pinCoOperands(const Node &node) {
  for (auto [operand, factors] : llvm::zip_equal(node.operands, node.rule.operands)) {
    bool contracted = llvm::any_of(llvm::enumerate(node.rule.factors), [&](const auto &entry) {
      return entry.value().kind == FactorKind::Reduction && hasFactor(factors, entry.index());
    });
    if (graph.tensors[operand].varying && contracted)
      pinCurrent(operand, "cut where it is used");
  }
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
          hasFactor(rule.operands[index], factor) &&
          llvm::count_if(rule.operands, [&](const TensorFactors &operand) {
            return hasFactor(operand, factor);
          }) > 1)
        return index;
  }
  return std::nullopt;
}

/// Parallel factors of the weight that the result has too, the axis making both shorter.
llvm::SmallVector<WeightSplit, 2> Greedy::columnSplits(const Node &node, unsigned weight,
                                                       AxisRef axis) const {
  const FactorRule &rule = node.rule;
  llvm::SmallVector<WeightSplit, 2> splits;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    if (rule.factors[factor].kind != FactorKind::Parallel)
      continue;
    auto inWeight = dimLedBy(rule, rule.operands[weight], factor);
    auto inResult = dimLedBy(rule, rule.results.front(), factor);
    if (inWeight && inResult && !batch.has(node.results.front(), *inResult) &&
        shortens(node.operands[weight], *inWeight, axis) &&
        shortens(node.results.front(), *inResult, axis))
      splits.push_back({*inWeight, node.results.front(), *inResult});
  }
  return splits;
}

bool Greedy::splitColumns(const Node &node, unsigned weight, AxisRef axis) {
  for (const WeightSplit &split : columnSplits(node, weight, axis))
    if (obstaclesFor(axis.size).isReshardFree(split.result, split.resultDim) &&
        seed(split.result, split.resultDim, axis,
             "column parallel at no cost: saves " +
                 text(savedBytes(node.operands[weight], split.weightDim, axis)) +
                 " of weight a device"))
      return true;
  return false;
}

/// Splits a weight whose result is wanted whole: by columns, joined at once (an all-gather), else
/// by rows (an all-reduce), if that saves more than it moves.
bool Greedy::splitWithCommunication(const Node &node, unsigned weight, AxisRef axis) {
  unsigned tensor = node.operands[weight], result = node.results.front();
  auto getMoved = [&](CollectiveKind kind) {
    return getRankTraffic(kind, axis.size, localBytes(result)) +
           otherLoadsCost(loadBehind(tensor), axis);
  };
  auto pays = [&](unsigned dim, const char *how, int64_t moved) {
    int64_t saved = savedBytes(tensor, dim, axis);
    if (saved <= moved)
      refuse(tensor, axis, refusedTrade(how, saved, moved));
    return saved > moved;
  };
  auto split = [&](unsigned dim, const char *how, int64_t moved) {
    int64_t saved = savedBytes(tensor, dim, axis);
    pinCurrent(result, "joined before it is used");
    return seedStorage(tensor, dim, axis,
                       std::string(how) + ": saves " + text(saved) + " of weight a device, moves " +
                           text(moved) + " a step (whole: 0)",
                       moved);
  };
  const FactorRule &rule = node.rule;
  constexpr const char *byColumns = "columns, joined at once", *byRows = "row parallel";
  for (const WeightSplit &columns : columnSplits(node, weight, axis))
    return pays(columns.weightDim, byColumns, getMoved(CollectiveKind::AllGather)) &&
           split(columns.weightDim, byColumns, getMoved(CollectiveKind::AllGather));
  for (auto [dim, factors] : llvm::enumerate(rule.operands[weight])) {
    unsigned factor = leadingFactor(rule, factors);
    if (factor == ShardingGraph::none || rule.factors[factor].kind != FactorKind::Reduction ||
        !shortens(tensor, dim, axis) || !pays(dim, byRows, getMoved(CollectiveKind::AllReduce)))
      continue;
    pinCoOperands(node);
    return split(dim, byRows, getMoved(CollectiveKind::AllReduce));
  }
  return false;
}

void Greedy::chooseProducts(unsigned axis) {
  llvm::SmallVector<AxisRef, 8> parts = partsOf(axis);
  for (const Node &node : graph.nodes) {
    std::optional<unsigned> weight = contractedWeight(node);
    if (!weight || usesAxis(node, axis))
      continue;
    bool free =
        llvm::any_of(parts, [&](AxisRef part) { return splitColumns(node, *weight, part); });
    if (!free)
      llvm::any_of(parts,
                   [&](AxisRef part) { return splitWithCommunication(node, *weight, part); });
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// By which part of the axis another load of the same weight has the dimension split.
std::optional<AxisRef> Greedy::partElsewhere(unsigned load, unsigned dim, unsigned axis) const {
  for (unsigned other : loadsOfSameWeight(load))
    for (AxisRef part : shardings.get(other).dims[dim])
      if (part.axis == axis)
        return part;
  return std::nullopt;
}

bool Greedy::splitTable(const Node &node, AxisRef axis) {
  const FactorRule &rule = node.rule;
  unsigned table = node.operands.front(), result = node.results.front();
  for (const WeightSplit &split : columnSplits(node, 0, axis))
    if (obstaclesFor(axis.size).isReshardFree(split.result, split.resultDim) &&
        seed(split.result, split.resultDim, axis, "columns of the table"))
      return true;
  for (auto [dim, factors] : llvm::enumerate(rule.operands.front())) {
    unsigned factor = leadingFactor(rule, factors);
    std::optional<AxisRef> elsewhere = partElsewhere(table, dim, axis.axis);
    if (factor == ShardingGraph::none || rule.factors[factor].kind != FactorKind::Reduction ||
        !shortens(table, dim, axis) || (elsewhere && *elsewhere != axis))
      continue;
    int64_t size = axis.size;
    int64_t saved = savedBytes(table, dim, axis);
    // Where other axes split the rows already, their all-reduce only grows.
    int64_t before = blocks(shardings.get(table).dims[dim]);
    auto traffic = [&](int64_t ranks) {
      return getRankTraffic(CollectiveKind::AllReduce, ranks, localBytes(result));
    };
    int64_t moved =
        traffic(before * size) - traffic(before) + otherLoadsCost(loadBehind(table), axis);
    if (saved <= moved && !elsewhere) {
      refuse(table, axis, refusedTrade("rows of the table", saved, moved));
      return false;
    }
    return seedStorage(table, dim, axis,
                       "rows of the table: saves " + text(saved) + " a device, moves " +
                           text(moved) + " a step (whole: 0)",
                       moved);
  }
  return false;
}

/// Tables are weights that varying indices read, contracted with nothing.
void Greedy::chooseTables(unsigned axis) {
  llvm::SmallVector<AxisRef, 8> parts = partsOf(axis);
  for (const Node &node : graph.nodes) {
    if (node.operands.size() < 2 || !graph.tensors[node.operands[0]].weight ||
        !graph.tensors[node.operands[1]].varying || contractedWeight(node) || usesAxis(node, axis))
      continue;
    bool reads = llvm::any_of(llvm::enumerate(node.rule.factors), [&](const auto &entry) {
      return entry.value().kind == FactorKind::Reduction &&
             hasFactor(node.rule.operands[0], entry.index());
    });
    if (reads)
      llvm::any_of(parts, [&](AxisRef part) { return splitTable(node, part); });
  }
}
