//===- ExactSearch.cpp - small problems, to the end -----------------------===//

#include "compiler/Search/Solver/ExactSearch.h"
#include "compiler/Search/Solver/Elimination.h"

#include <algorithm>
#include <numeric>

using namespace weft::solver;

ExactSearch::ExactSearch(const Core &core, const Assignment &best)
    : core(core), best(best), slack(core.capacity), choice(core.numNodes(), -1) {
  for (int u = 0; u < core.numNodes(); ++u) {
    left.emplace_back(core.size[u], 1);
    leftCount.push_back(core.size[u]);
    auto cost = core.cost.begin() + core.strategy[u];
    paying.emplace_back(cost, cost + core.size[u]);
  }
  for (const Core::Edge &e : core.edges) {
    auto table = core.tables.begin() + e.table;
    edgeLeast.push_back(
        *std::min_element(table, table + size_t(core.size[e.first]) * core.size[e.second]));
    openEdges += edgeLeast.back();
  }
}

bool ExactSearch::run(int64_t limit, const std::function<bool()> &isExpired) {
  steps = limit;
  expired = isExpired;
  for (int u = 0; u < core.numNodes(); ++u)
    for (int s = 0; s < core.size[u]; ++s)
      if (paying[u][s] >= forbidden && !remove(u, s))
        return true;
  if (filter())
    search(0);
  return !stopped;
}

int64_t ExactSearch::leastOf(int node) const {
  int64_t least = forbidden;
  for (int s = 0; s < core.size[node]; ++s)
    if (left[node][s])
      least = std::min(least, paying[node][s]);
  return least;
}

bool ExactSearch::remove(int node, int strategy) {
  left[node][strategy] = 0;
  removed.push_back({node, strategy});
  return --leftCount[node] > 0;
}

/// Drops what costs or uses too much. False if some node is left without strategies.
bool ExactSearch::filter() {
  int64_t total = core.constant + paid + openEdges;
  for (int u = 0; u < core.numNodes(); ++u)
    if (choice[u] < 0)
      total += leastOf(u);
  bool bounded = best.value().feasible();
  if (bounded && total >= best.value().cost)
    return false;
  for (int u = 0; u < core.numNodes(); ++u) {
    if (choice[u] >= 0)
      continue;
    int64_t least = leastOf(u);
    for (int s = 0; s < core.size[u]; ++s) {
      if (!left[u][s])
        continue;
      bool keep = !bounded || total - least + paying[u][s] < best.value().cost;
      for (const Core::Usage &usage : core.usages(u))
        keep = keep && core.amounts[usage.amount + s] <= slack.leastOver(usage.begin, usage.end);
      if (!keep && !remove(u, s))
        return false;
    }
  }
  return true;
}

int ExactSearch::nextNode() const {
  int next = -1;
  for (int u = 0; u < core.numNodes(); ++u) {
    if (choice[u] >= 0)
      continue;
    auto key = [&](int v) { return std::pair(leftCount[v], -int(core.neighbours(v).size())); };
    if (next < 0 || key(u) < key(next))
      next = u;
  }
  return next;
}

bool ExactSearch::assign(int node, int strategy) {
  choice[node] = strategy;
  paid += paying[node][strategy];
  for (const Core::Usage &usage : core.usages(node))
    slack.take(usage.begin, usage.end, core.amounts[usage.amount + strategy]);
  bool open = true;
  for (const Core::Neighbour &v : core.neighbours(node)) {
    if (choice[v.node] >= 0)
      continue;
    openEdges -= edgeLeast[v.edge];
    for (int s = 0; s < core.size[v.node]; ++s) {
      if (!left[v.node][s])
        continue;
      int64_t cost = core.pairCost(v.edge, node, strategy, s);
      if (cost >= forbidden) {
        open &= remove(v.node, s);
        continue;
      }
      priced.push_back({v.node, s, paying[v.node][s]});
      paying[v.node][s] += cost;
    }
  }
  return open;
}

void ExactSearch::undo(int node, int strategy, size_t removedBefore, size_t pricedBefore) {
  for (; removed.size() > removedBefore; removed.pop_back()) {
    left[removed.back().node][removed.back().strategy] = 1;
    ++leftCount[removed.back().node];
  }
  for (; priced.size() > pricedBefore; priced.pop_back())
    paying[priced.back().node][priced.back().strategy] = priced.back().before;
  for (const Core::Neighbour &v : core.neighbours(node))
    if (choice[v.node] < 0)
      openEdges += edgeLeast[v.edge];
  for (const Core::Usage &usage : core.usages(node))
    slack.take(usage.begin, usage.end, -core.amounts[usage.amount + strategy]);
  paid -= paying[node][strategy];
  choice[node] = -1;
}

/// Returns false where the search was stopped.
bool ExactSearch::search(int assigned) {
  if (--steps < 0 || (steps % 64 == 0 && expired())) {
    stopped = true;
    return false;
  }
  if (assigned == core.numNodes()) {
    Assignment found(core, choice);
    if (found.value() < best.value())
      best = std::move(found);
    return true;
  }
  int node = nextNode();
  std::vector<int> order;
  for (int s = 0; s < core.size[node]; ++s)
    if (left[node][s])
      order.push_back(s);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(paying[node][a], a) < std::pair(paying[node][b], b);
  });
  for (int s : order) {
    size_t removedBefore = removed.size(), pricedBefore = priced.size();
    bool open = assign(node, s) && filter();
    bool done = !open || search(assigned + 1);
    undo(node, s, removedBefore, pricedBefore);
    if (!done)
      return false;
  }
  return true;
}

std::optional<Assignment> weft::solver::eliminateWhole(const Core &core, double largestTable) {
  if (!core.capacity.empty() || core.numNodes() > PlaceSet::capacity)
    return std::nullopt;
  DirectedTables<double> tables(core, 1);
  Elimination elimination(core, tables);
  std::vector<int> all(core.numNodes());
  std::iota(all.begin(), all.end(), 0);
  elimination.plan(all, largestTable);
  if (int(elimination.nodes().size()) < core.numNodes() || core.penalty > (int64_t(1) << 48))
    return std::nullopt; // too large, or not exact in floating point
  elimination.condition(all);
  Random random(0);
  return Assignment(core, elimination.solve(random));
}
