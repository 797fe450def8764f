//===- ReduceStrategies.cpp - followers and dominated strategies ----------===//

#include "compiler/Search/Solver/Reduce.h"

#include <algorithm>
#include <deque>
#include <numeric>

using namespace weft::solver;

namespace {

/// For each strategy of `leader` the one that the other side of the edge must take; empty if some
/// strategy leaves a choice, or none.
std::vector<int> followerChoice(const Model &model, int edge, int leader) {
  const Model::Edge &e = model.edges[edge];
  bool first = e.first == leader;
  size_t width = model.nodes[e.second].size(), height = model.nodes[e.first].size();
  size_t count = first ? height : width, options = first ? width : height;
  std::vector<int> choice;
  for (size_t s = 0; s < count; ++s) {
    int only = -1;
    for (size_t t = 0; t < options; ++t)
      if (e.table[first ? s * width + t : t * width + s] < forbidden) {
        if (only >= 0)
          return {};
        only = int(t);
      }
    if (only < 0)
      return {};
    choice.push_back(only);
  }
  return choice;
}

class Merging {
public:
  Merging(Model &model, size_t largestTable) : model(model), largestTable(largestTable) {}

  int run() {
    for (size_t e = 0; e < model.edges.size(); ++e)
      if (model.edges[e].alive)
        queue.push_back(int(e));
    int changes = 0;
    while (!queue.empty()) {
      int edge = queue.front();
      queue.pop_front();
      if (model.edges[edge].alive)
        changes += tryMerge(edge);
    }
    return changes;
  }

private:
  /// Where each follows the other, the one with fewer edges moves.
  bool tryMerge(int edge) {
    int a = model.edges[edge].first, b = model.edges[edge].second;
    if (model.nodes[a].edges.size() < model.nodes[b].edges.size())
      std::swap(a, b);
    for (auto [leader, follower] : {std::pair(a, b), std::pair(b, a)}) {
      if (model.nodes[leader].size() < model.nodes[follower].size())
        continue; // each of the follower's strategies is taken for some of the leader's
      std::vector<int> choice = followerChoice(model, edge, leader);
      if (choice.empty() || !fits(edge, leader, follower))
        continue;
      merge(edge, leader, follower, choice);
      return true;
    }
    return false;
  }

  bool fits(int edge, int leader, int follower) {
    size_t rows = model.nodes[leader].size(), before = model.nodes[follower].size();
    for (int moved : model.liveEdges(follower)) {
      int end = model.other(moved, follower);
      size_t columns = model.nodes[end].size();
      if (moved != edge && rows > before && rows * columns > largestTable &&
          model.findEdge(leader, end) < 0)
        return false;
    }
    return true;
  }

  void merge(int edge, int leader, int follower, const std::vector<int> &choice) {
    Model::Node moved = std::move(model.nodes[follower]);
    std::vector<int64_t> tie = orientedAs(edge, leader, choice.size(), moved.size());
    std::vector<int64_t> &cost = model.nodes[leader].cost;
    for (size_t s = 0; s < choice.size(); ++s)
      cost[s] =
          addCosts(cost[s], addCosts(moved.cost[choice[s]], tie[s * moved.size() + choice[s]]));
    model.removeEdge(edge);
    for (int other : moved.edges)
      if (model.edges[other].alive)
        moveEdge(other, leader, follower, moved.size(), choice);
    for (TimedUsage &usage : moved.usages) {
      TimedUsage spread{usage.begin, usage.end, {}};
      for (int s : choice)
        spread.amount.push_back(usage.amount[s]);
      model.nodes[leader].usages.push_back(std::move(spread));
    }
    model.nodes[follower] = {};
    model.nodes[follower].alive = false;
    model.trail.noteFollower(follower, leader, choice);
  }

  /// The table with `rows` rows for the strategies of `node`; the follower's node is moved away
  /// already, so sizes come from the caller.
  std::vector<int64_t> orientedAs(int edge, int node, size_t rows, size_t columns) const {
    const Model::Edge &e = model.edges[edge];
    if (e.first == node)
      return e.table;
    std::vector<int64_t> turned(e.table.size());
    for (size_t s = 0; s < rows; ++s)
      for (size_t t = 0; t < columns; ++t)
        turned[s * columns + t] = e.table[t * rows + s];
    return turned;
  }

  void moveEdge(int edge, int leader, int follower, size_t followerSize,
                const std::vector<int> &choice) {
    int end = model.other(edge, follower);
    size_t columns = model.nodes[end].size();
    std::vector<int64_t> table = orientedAs(edge, follower, followerSize, columns);
    std::vector<int64_t> spread;
    spread.reserve(choice.size() * columns);
    for (int s : choice)
      spread.insert(spread.end(), &table[s * columns], &table[s * columns] + columns);
    model.removeEdge(edge);
    queue.push_back(model.addTable(leader, end, std::move(spread)));
  }

  Model &model;
  size_t largestTable;
  std::deque<int> queue;
};

/// The strategies of one node against each other (Goldstein's criterion).
class Dominance {
public:
  Dominance(Model &model, int node) : model(model), node(node) {
    for (int edge : model.liveEdges(node)) {
      tables.push_back(model.orientedTable(edge, node));
      entries += tables.back().size();
    }
    addSamples();
  }

  /// Entries that comparing all pairs may read.
  size_t work() const { return entries * model.nodes[node].size(); }

  std::vector<int> survivors() const {
    const std::vector<int64_t> &cost = model.nodes[node].cost;
    std::vector<int> order(cost.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return std::pair(cost[a], a) < std::pair(cost[b], b); });
    std::vector<int> kept;
    for (int s : order) {
      if (std::any_of(kept.begin(), kept.end(), [&](int other) { return dominates(other, s); }))
        continue;
      std::erase_if(kept, [&](int other) { return dominates(s, other); });
      kept.push_back(s);
    }
    std::sort(kept.begin(), kept.end());
    return kept;
  }

private:
  /// Sums each strategy's cost with an entry of each table, or, last, the least one of its row:
  /// what another is that is never worse sums to no more. Where a row has no allowed entry, more is
  /// said of it by no sum.
  void addSamples() {
    const Model::Node &n = model.nodes[node];
    for (size_t s = 0; s < n.size(); ++s)
      for (size_t sample = 0; sample < numSamples; ++sample) {
        int64_t sum = n.cost[s];
        for (const std::vector<int64_t> &table : tables) {
          size_t width = table.size() / n.size();
          const int64_t *row = &table[s * width];
          bool isLast = sample + 1 == numSamples;
          sum = addCosts(sum, isLast ? *std::min_element(row, row + width)
                                     : row[sample * width / (numSamples - 1)]);
        }
        samples.push_back(sum);
      }
  }

  bool mayDominate(int a, int b) const {
    const int64_t *first = &samples[a * numSamples], *second = &samples[b * numSamples];
    for (size_t sample = 0; sample < numSamples; ++sample)
      if (first[sample] > second[sample])
        return false;
    return true;
  }

  /// Whether `a` is never worse than `b`.
  bool dominates(int a, int b) const {
    if (!mayDominate(a, b))
      return false;
    const Model::Node &n = model.nodes[node];
    for (const TimedUsage &usage : n.usages)
      if (usage.amount[a] > usage.amount[b])
        return false;
    int64_t worst = n.cost[a] - n.cost[b];
    for (const std::vector<int64_t> &table : tables) {
      size_t width = table.size() / n.size();
      const int64_t *first = &table[a * width], *second = &table[b * width];
      int64_t most = -forbidden;
      for (size_t t = 0; t < width; ++t) {
        if (second[t] >= forbidden)
          continue;
        if (first[t] >= forbidden)
          return false;
        most = std::max(most, first[t] - second[t]);
      }
      if (most == -forbidden)
        return true; // b can never be chosen
      worst += most;
    }
    return worst <= 0;
  }

  static constexpr size_t numSamples = 8;

  Model &model;
  int node;
  std::vector<std::vector<int64_t>> tables;
  std::vector<int64_t> samples; ///< by strategy
  size_t entries = 0;
};

} // namespace

int weft::solver::mergeFollowers(Model &model, size_t largestTable) {
  return Merging(model, largestTable).run();
}

int weft::solver::removeDominated(Model &model, const std::function<bool()> &expired) {
  constexpr size_t mostWork = 50'000'000; // entries a node
  int changes = 0;
  for (size_t i = 0; i < model.nodes.size() && !model.infeasible; ++i) {
    if (!model.nodes[i].alive || model.nodes[i].size() < 2)
      continue;
    if (i % 256 == 0 && expired())
      break;
    Dominance dominance(model, int(i));
    if (dominance.work() > mostWork)
      continue;
    std::vector<int> kept = dominance.survivors();
    changes += int(model.nodes[i].size() - kept.size());
    model.keepStrategies(int(i), kept);
  }
  return changes;
}
