//===- Reduce.cpp - arc consistency, separable edges, small nodes ---------===//

#include "compiler/Search/Solver/Reduce.h"

#include <algorithm>
#include <deque>

using namespace weft::solver;

namespace {

/// Arc consistency with one mask a node; strategies leave the tables at the end.
class Supports {
public:
  explicit Supports(Model &model)
      : model(model), allowed(model.nodes.size()), queued(model.nodes.size(), false) {}

  int run() {
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      if (!model.nodes[i].alive)
        continue;
      for (int64_t cost : model.nodes[i].cost)
        allowed[i].push_back(cost < forbidden);
      push(int(i));
    }
    while (!queue.empty()) {
      int node = queue.front();
      queue.pop_front();
      queued[node] = false;
      for (int edge : model.liveEdges(node))
        revise(edge, model.other(edge, node));
    }
    return apply();
  }

private:
  void push(int node) {
    if (!queued[node]) {
      queued[node] = true;
      queue.push_back(node);
    }
  }

  /// Drops the strategies of `node` that nothing on the other side of `edge` supports.
  void revise(int edge, int node) {
    const Model::Edge &e = model.edges[edge];
    bool first = e.first == node;
    const std::vector<char> &others = allowed[first ? e.second : e.first];
    size_t width = model.nodes[e.second].size();
    size_t step = first ? 1 : width, stride = first ? width : 1;
    bool changed = false;
    for (size_t s = 0; s < allowed[node].size(); ++s) {
      if (!allowed[node][s])
        continue;
      const int64_t *row = &e.table[s * stride];
      bool supported = false;
      for (size_t t = 0; t < others.size() && !supported; ++t)
        supported = others[t] && row[t * step] < forbidden;
      allowed[node][s] = supported;
      changed |= !supported;
    }
    if (changed)
      push(node);
  }

  int apply() {
    int changes = 0;
    for (size_t i = 0; i < model.nodes.size() && !model.infeasible; ++i) {
      std::vector<int> kept;
      for (size_t s = 0; s < allowed[i].size(); ++s)
        if (allowed[i][s])
          kept.push_back(int(s));
      changes += int(allowed[i].size() - kept.size());
      if (kept.size() < allowed[i].size())
        model.keepStrategies(int(i), kept);
    }
    return changes;
  }

  Model &model;
  std::vector<std::vector<char>> allowed;
  std::deque<int> queue;
  std::vector<bool> queued;
};

/// Whether t[i][j] = t[i][0] + t[0][j] − t[0][0] throughout, all finite.
bool isSeparable(const std::vector<int64_t> &table, size_t width) {
  for (size_t i = 0; i < table.size(); i += width)
    for (size_t j = 0; j < width; ++j)
      if (table[i + j] >= forbidden || table[i + j] - table[i] != table[j] - table[0])
        return false;
  return true;
}

/// The cheapest strategy of a node for each choice of its one or two neighbours.
class Elimination {
public:
  Elimination(Model &model, int node) : model(model), node(node), edges(model.liveEdges(node)) {
    for (int edge : edges) {
      ends.push_back(model.other(edge, node));
      tables.push_back(model.orientedTable(edge, ends.back()));
    }
    std::vector<int64_t> one(model.nodes[node].size(), 0);
    size_t rows = ends.empty() ? 1 : model.nodes[ends[0]].size();
    size_t columns = ends.size() < 2 ? 1 : model.nodes[ends[1]].size();
    for (size_t s = 0; s < rows; ++s)
      for (size_t t = 0; t < columns; ++t)
        minimize(ends.empty() ? one.data() : &tables[0][s * one.size()],
                 ends.size() < 2 ? one.data() : &tables[1][t * one.size()]);
    count = columns;
  }

  void apply() {
    for (int edge : edges)
      model.removeEdge(edge);
    model.nodes[node] = {};
    model.nodes[node].alive = false;
    model.trail.noteEliminated(node, ends.empty() ? -1 : ends[0], ends.size() < 2 ? -1 : ends[1],
                               count, std::move(choice));
    if (ends.empty()) {
      model.infeasible |= best[0] >= forbidden;
      model.constant += best[0];
    } else if (ends.size() == 1) {
      for (size_t s = 0; s < best.size(); ++s)
        model.nodes[ends[0]].cost[s] = addCosts(model.nodes[ends[0]].cost[s], best[s]);
    } else {
      model.addTable(ends[0], ends[1], std::move(best));
    }
  }

  std::vector<int> ends;

private:
  void minimize(const int64_t *first, const int64_t *second) {
    int64_t least = forbidden;
    int arg = 0;
    const std::vector<int64_t> &cost = model.nodes[node].cost;
    for (size_t k = 0; k < cost.size(); ++k) {
      int64_t sum = addCosts(cost[k], addCosts(first[k], second[k]));
      if (sum < least) {
        least = sum;
        arg = int(k);
      }
    }
    best.push_back(least);
    choice.push_back(arg);
  }

  Model &model;
  int node;
  std::vector<int> edges;
  std::vector<std::vector<int64_t>> tables;
  std::vector<int64_t> best;
  std::vector<int> choice;
  size_t count = 1;
};

bool isSmall(Model &model, int node, size_t largestTable) {
  if (!model.nodes[node].alive || !model.nodes[node].usages.empty())
    return false;
  const std::vector<int> &edges = model.liveEdges(node);
  if (edges.size() != 2)
    return edges.size() < 2;
  int a = model.other(edges[0], node), b = model.other(edges[1], node);
  return model.findEdge(a, b) >= 0 || model.nodes[a].size() * model.nodes[b].size() <= largestTable;
}

} // namespace

int weft::solver::removeUnsupported(Model &model) { return Supports(model).run(); }

int weft::solver::removeSeparable(Model &model) {
  int changes = 0;
  for (size_t e = 0; e < model.edges.size(); ++e) {
    Model::Edge &edge = model.edges[e];
    if (!edge.alive || !isSeparable(edge.table, model.nodes[edge.second].size()))
      continue;
    std::vector<int64_t> &first = model.nodes[edge.first].cost;
    std::vector<int64_t> &second = model.nodes[edge.second].cost;
    for (size_t s = 0; s < first.size(); ++s)
      first[s] = addCosts(first[s], edge.table[s * second.size()]);
    for (size_t t = 0; t < second.size(); ++t)
      second[t] = addCosts(second[t], edge.table[t] - edge.table[0]);
    model.removeEdge(int(e));
    ++changes;
  }
  return changes;
}

int weft::solver::eliminateSmall(Model &model, size_t largestTable) {
  int changes = 0;
  std::deque<int> queue;
  for (size_t i = 0; i < model.nodes.size(); ++i)
    queue.push_back(int(i));
  while (!queue.empty() && !model.infeasible) {
    int node = queue.front();
    queue.pop_front();
    if (!isSmall(model, node, largestTable))
      continue;
    Elimination elimination(model, node);
    elimination.apply();
    queue.insert(queue.end(), elimination.ends.begin(), elimination.ends.end());
    ++changes;
  }
  return changes;
}

void weft::solver::reduce(Model &model, const std::function<bool()> &expired) {
  constexpr int fewChanges = 60;        // of a large problem: not worth another round
  constexpr size_t smallProblem = 2000; // nodes: rounds cost nothing
  constexpr size_t mergedTable = 2000, eliminatedTable = 4096; // entries
  int changes = 0;
  for (int round = 0; !model.infeasible && !expired(); ++round) {
    changes = 0;
    auto apply = [&](auto &&rule) {
      if (!model.infeasible && !expired())
        changes += rule();
    };
    apply([&] { return reduceTimes(model); });
    apply([&] { return removeUnsupported(model); });
    apply([&] { return mergeFollowers(model, round < 2 ? 0 : mergedTable); });
    apply([&] { return removeOversized(model); });
    apply([&] { return removeSeparable(model); });
    apply([&] { return removeDominated(model, expired); });
    apply([&] { return eliminateSmall(model, eliminatedTable); });
    bool large = model.nodes.size() > smallProblem;
    if (round >= 2 && changes <= (large ? fewChanges : 0))
      break;
  }
  if (!model.infeasible)
    removeUnsupported(model);
  if (!model.infeasible)
    reduceTimes(model);
}
