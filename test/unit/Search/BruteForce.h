//===- BruteForce.h - all assignments of small programs ---------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_SEARCH_BRUTEFORCE_H
#define WEFT_TEST_UNIT_SEARCH_BRUTEFORCE_H

#include "compiler/Search/Searcher.h"
#include "test/unit/Cost/Clusters.h"
#include "test/unit/Sharding/Network.h"

#include <functional>
#include <limits>
#include <random>

namespace weft {
/// A program of a few operations on one or two inputs.
struct Program : Network {
  ShardingProblem problem;
  std::string described;

  Program() = default;
  explicit Program(uint64_t seed) : random(seed) {
    std::vector<unsigned> values{input({64, 48})};
    for (int count = pick(2, 4); count > 0; --count)
      values.push_back(grow(values));
    finish(values.back());
  }

  int pick(int least, int most) { return static_cast<int>(least + random() % (most - least + 1)); }

  /// Fills in the problem, once all operations are there; what `last` is is returned.
  void finish(unsigned last) {
    size_t tensors = graph.tensors.size(), nodes = graph.nodes.size();
    problem.graph = &graph;
    for (const ShardingGraph::Node &node : graph.nodes) {
      bool isProduct = node.operands.size() == 2 && graph.tensors[node.operands[1]].weight;
      problem.work.push_back({isProduct ? 1e9 : 0, "f32", 1});
    }
    problem.kinds.assign(nodes, 0);
    problem.isFree.assign(nodes, false);
    for (const ShardingGraph::Tensor &tensor : graph.tensors)
      problem.isReadFreely.push_back(tensor.weight);
    problem.isReturned.assign(tensors, false);
    problem.isMadeSo.assign(tensors, false);
    problem.left.resize(tensors);
    problem.isReturned[last] = true;
    problem.pinned.resize(tensors);
    problem.required.resize(tensors);
  }

private:
  unsigned grow(const std::vector<unsigned> &values) {
    unsigned x = values[random() % values.size()];
    const auto shape = graph.tensors[x].shape;
    switch (pick(0, 4)) {
    case 0:
      described += " exp";
      return exp(x);
    case 1:
      for (unsigned other : values)
        if (other != x && graph.tensors[other].shape == shape) {
          described += " add";
          unsigned sum = add(x, other);
          graph.nodes.back().rule.linearity = SumLinearity::Joint;
          return sum;
        }
      [[fallthrough]];
    case 2:
      described += " transpose";
      return transpose(x);
    default: {
      described += " dot";
      int64_t width = int64_t(16) * pick(1, 3) - pick(0, 1);
      unsigned product = dot(x, graph.addWeight({shape[1], width}, 4));
      graph.nodes.back().rule.linearity = SumLinearity::Each;
      return product;
    }
    }
  }

  std::mt19937_64 random;
};

/// The least price of a program over all splits of its operations and all forms in which values may
/// be kept, each operation tried in turn. It holds what the search says of itself: prices of
/// shards, of paths, and of what is held.
class Enumerator {
public:
  using Filter = std::function<bool(unsigned node, const OperationSplit &)>;

  /// Assignments that hold more than `limit` bytes, or have splits that are not allowed, do not
  /// count.
  Enumerator(const Program &program, MeshPrices &prices, double limit, Filter allows = {})
      : problem(program.problem), graph(program.graph), prices(prices),
        strategies(graph, prices.getMesh(), problem.isFree), forms(graph.tensors.size()),
        limit(limit), isLive(findLive()), allows(std::move(allows)) {}

  double run() {
    visitInput(0);
    return best;
  }

  static constexpr double none = std::numeric_limits<double>::infinity();

private:
  /// Beside moving a byte, holding one (StrategyGraph.cpp).
  static constexpr double holdingShare = 1e-3;

  /// Which results are there when most is, were nothing split.
  std::vector<bool> findLive() const {
    auto isThere = [&](unsigned tensor, unsigned node) {
      const ShardingGraph::Tensor &own = graph.tensors[tensor];
      unsigned begin = own.producer == ShardingGraph::none ? 0 : own.producer;
      unsigned end = problem.isReturned[tensor] ? graph.nodes.size()
                     : own.users.empty()        ? begin
                                                : own.users.back();
      return begin <= node && node <= end;
    };
    std::vector<bool> live(graph.tensors.size());
    int64_t most = 0;
    for (unsigned node = 0; node < graph.nodes.size(); ++node) {
      int64_t bytes = 0;
      for (unsigned tensor = 0; tensor < live.size(); ++tensor)
        bytes += isThere(tensor, node) ? graph.tensors[tensor].bytes() : 0;
      if (bytes <= most)
        continue;
      most = bytes;
      for (unsigned tensor = 0; tensor < live.size(); ++tensor)
        live[tensor] = isThere(tensor, node);
    }
    return live;
  }

  double getBytes(unsigned tensor, const TensorSharding &form) const {
    const ShardingGraph::Tensor &own = graph.tensors[tensor];
    return static_cast<double>(form.localElements(own.shape) * own.elementBytes);
  }

  /// Bytes of the weights that an operation reads, and of what it makes, as it is kept.
  double countHeld(unsigned index, const OperationSplit &split) const {
    const ShardingGraph::Node &node = graph.nodes[index];
    double bytes = 0;
    for (auto [slot, tensor] : llvm::enumerate(node.operands))
      if (problem.isReadFreely[tensor])
        bytes += getBytes(tensor, getOperandForm(node.rule, slot, split));
    unsigned result = node.results.front();
    return isLive[result] && !node.view ? bytes + getBytes(result, forms[result]) : bytes;
  }

  double hold(double bytes) const { return holdingShare * bytes / prices.getDevice().copy; }

  double holdForm(unsigned tensor, const TensorSharding &form) const {
    return hold(getBytes(tensor, form));
  }

  double move(unsigned tensor, const TensorSharding &from, const TensorSharding &to) {
    const ShardingGraph::Tensor &own = graph.tensors[tensor];
    FormTable &table = tables.of(own.shape, own.elementBytes);
    unsigned before = table.add(from), after = table.add(to);
    return before == after ? 0 : waySeconds + table.getSeconds(before, after, prices);
  }

  /// Of a weight that is pinned and read otherwise.
  double join(unsigned tensor, const TensorSharding &form) {
    const std::optional<TensorSharding> &pin = problem.required[tensor];
    return pin && *pin != form ? move(tensor, *pin, form) : 0;
  }

  void visitInput(unsigned tensor) {
    if (tensor == graph.tensors.size())
      return visitNode(0, 0, 0);
    if (!graph.tensors[tensor].input)
      return visitInput(tensor + 1);
    for (const TensorSharding &form : strategies.listForms(tensor, false)) {
      forms[tensor] = form;
      visitInput(tensor + 1);
    }
  }

  unsigned countUses(unsigned tensor) const {
    unsigned uses = problem.isReturned[tensor];
    for (unsigned user : graph.tensors[tensor].users)
      uses += llvm::count(graph.nodes[user].operands, tensor);
    return uses;
  }

  /// Forms in which a value is made by its operation or taken by any user.
  std::vector<TensorSharding> listPassed(unsigned tensor, bool takes) const {
    std::vector<TensorSharding> passed;
    auto add = [&](const TensorSharding &form) {
      if (!llvm::is_contained(passed, form))
        passed.push_back(form);
    };
    unsigned producer = graph.tensors[tensor].producer;
    for (const OperationSplit &split : strategies.list(producer))
      add(getResultForm(graph.nodes[producer].rule, 0, split));
    for (unsigned user : graph.tensors[tensor].users)
      for (auto [slot, operand] : llvm::enumerate(graph.nodes[user].operands))
        for (const OperationSplit &split : strategies.list(user))
          if (operand == tensor && takes)
            add(getOperandForm(graph.nodes[user].rule, slot, split));
    return passed;
  }

  double priceNode(unsigned index, const OperationSplit &split) {
    const ShardingGraph::Node &node = graph.nodes[index];
    double seconds = getShardSeconds(graph, node, problem.work[index], split.axes,
                                     prices.getDevice(), prices.getConstants());
    for (auto [slot, tensor] : llvm::enumerate(node.operands)) {
      if (problem.isReadFreely[tensor])
        seconds += hold(getBlockBytes(graph, node, slot, split.axes)) +
                   join(tensor, getOperandForm(node.rule, slot, split));
      else
        seconds += move(tensor, forms[tensor], getOperandForm(node.rule, slot, split));
    }
    return seconds + hold(getBlockBytes(graph, node, node.operands.size(), split.axes));
  }

  void visitNode(unsigned index, double before, double held) {
    if (before >= best || held > limit)
      return;
    if (index == graph.nodes.size())
      return finish(before);
    const ShardingGraph::Node &node = graph.nodes[index];
    unsigned result = node.results.front();
    for (const OperationSplit &split : strategies.list(index)) {
      if (allows && !allows(index, split))
        continue;
      double own = before + priceNode(index, split);
      if (!std::isfinite(own))
        continue;
      TensorSharding made = getResultForm(node.rule, 0, split);
      if (countUses(result) < 2) {
        forms[result] = made;
        visitNode(index + 1, own, held + countHeld(index, split));
        continue;
      }
      for (const TensorSharding &kept : listPassed(result, true)) {
        forms[result] = kept;
        visitNode(index + 1, own + move(result, made, kept) + holdForm(result, kept),
                  held + countHeld(index, split));
      }
    }
  }

  void finish(double before) {
    double seconds = before;
    for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
      if (graph.tensors[tensor].input)
        seconds += holdForm(tensor, forms[tensor]);
      if (!problem.isReturned[tensor])
        continue;
      double least = std::numeric_limits<double>::infinity();
      for (const TensorSharding &left : listPassed(tensor, true))
        if (left.partial.empty())
          least = std::min(least, move(tensor, forms[tensor], left) + holdForm(tensor, left));
      seconds += least;
    }
    best = std::min(best, seconds);
  }

  const ShardingProblem &problem;
  const ShardingGraph &graph;
  MeshPrices &prices;
  Strategies strategies;
  FormTables tables;
  std::vector<TensorSharding> forms; ///< by tensor, as it is kept
  double limit;                      ///< B
  std::vector<bool> isLive;          ///< by tensor
  Filter allows;
  double best = none;
};
} // namespace weft

#endif // WEFT_TEST_UNIT_SEARCH_BRUTEFORCE_H
