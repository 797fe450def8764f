//===- Model.cpp - a strategy-graph problem that shrinks ------------------===//

#include "compiler/Search/Solver/Model.h"

#include <algorithm>
#include <tuple>

using namespace weft::solver;

Model::Model(const Instance &instance) : nodes(instance.numNodes()) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::span<const int64_t> costs = instance.costs[i];
    nodes[i].cost.assign(costs.begin(), costs.end());
    for (int64_t &cost : nodes[i].cost)
      cost = std::min(cost, forbidden);
  }
  edges.reserve(instance.edges.size());
  edgeOf.reserve(instance.edges.size());
  addEdges(instance);
  if (instance.usageLimit)
    addUsages(instance);
}

void Model::addEdges(const Instance &instance) {
  for (size_t e = 0; e < instance.edges.size(); ++e) {
    std::span<const int64_t> scope = instance.edges[e], costs = instance.edgeCosts[e];
    if (scope.size() == 2 && scope[0] != scope[1]) {
      std::vector<int64_t> table(costs.begin(), costs.end());
      for (int64_t &cost : table)
        cost = std::min(cost, forbidden);
      addTable(int(scope[0]), int(scope[1]), std::move(table));
    } else {
      addHyperedge(scope, costs);
    }
  }
}

/// One or several nodes, some perhaps named twice.
void Model::addHyperedge(std::span<const int64_t> scope, std::span<const int64_t> costs) {
  std::vector<int64_t> distinct(scope.begin(), scope.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<int64_t> joint; // over the distinct nodes
  std::vector<std::vector<int>> choices(distinct.size());
  std::vector<int> at(distinct.size(), 0);
  for (bool more = true; more;) {
    size_t index = 0;
    for (int64_t node : scope) {
      size_t place = std::lower_bound(distinct.begin(), distinct.end(), node) - distinct.begin();
      index = index * nodes[node].size() + at[place];
    }
    joint.push_back(std::min(costs[index], forbidden));
    for (size_t i = 0; i < distinct.size(); ++i)
      choices[i].push_back(at[i]);
    more = false;
    for (size_t i = distinct.size(); i-- > 0 && !more;) {
      more = ++at[i] < int(nodes[distinct[i]].size());
      if (!more)
        at[i] = 0;
    }
  }
  if (distinct.size() == 1) {
    for (size_t s = 0; s < joint.size(); ++s)
      nodes[distinct[0]].cost[s] = addCosts(nodes[distinct[0]].cost[s], joint[s]);
    return;
  }
  int auxiliary = int(nodes.size());
  nodes.emplace_back().cost = joint;
  for (size_t i = 0; i < distinct.size(); ++i) {
    size_t size = nodes[distinct[i]].size();
    std::vector<int64_t> table(joint.size() * size, forbidden);
    for (size_t k = 0; k < joint.size(); ++k)
      table[k * size + choices[i][k]] = 0;
    addTable(auxiliary, int(distinct[i]), std::move(table));
  }
}

/// Usage can grow only where an interval begins: those are the times.
void Model::addUsages(const Instance &instance) {
  std::vector<int64_t> times;
  for (const Interval &interval : instance.intervals)
    if (interval.begin < interval.end)
      times.push_back(interval.begin);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  // A limit near the largest integer means none: sums of usages stay below largestTotal.
  capacity.assign(times.size(), std::min(*instance.usageLimit, largestTotal));
  auto indexOf = [&](int64_t time) {
    return int(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  for (size_t i = 0; i < instance.numNodes() && !infeasible; ++i) {
    Interval interval = instance.intervals[i];
    if (interval.begin >= interval.end)
      continue;
    std::span<const int64_t> usages = instance.usages[i];
    std::vector<int> kept;
    for (size_t s = 0; s < usages.size(); ++s)
      if (usages[s] <= *instance.usageLimit)
        kept.push_back(int(s));
    TimedUsage usage{indexOf(interval.begin), indexOf(interval.end), {}};
    usage.amount.assign(usages.begin(), usages.end());
    nodes[i].usages.push_back(std::move(usage));
    if (kept.size() < usages.size())
      keepStrategies(int(i), kept);
  }
}

int Model::findEdge(int a, int b) const {
  auto found = edgeOf.find(keyOf(a, b));
  return found == edgeOf.end() ? -1 : found->second;
}

int Model::addTable(int a, int b, std::vector<int64_t> table) {
  int edge = findEdge(a, b);
  if (edge < 0) {
    edge = int(edges.size());
    edges.push_back({a, b, std::move(table)});
    edgeOf.emplace(keyOf(a, b), edge);
    nodes[a].edges.push_back(edge);
    nodes[b].edges.push_back(edge);
    return edge;
  }
  std::vector<int64_t> &sum = edges[edge].table;
  size_t rows = nodes[a].size(), columns = nodes[b].size();
  bool same = edges[edge].first == a;
  for (size_t s = 0; s < rows; ++s)
    for (size_t t = 0; t < columns; ++t) {
      int64_t &entry = sum[same ? s * columns + t : t * rows + s];
      entry = addCosts(entry, table[s * columns + t]);
    }
  return edge;
}

void Model::removeEdge(int edge) {
  edges[edge].alive = false;
  edges[edge].table = {};
  edgeOf.erase(keyOf(edges[edge].first, edges[edge].second));
}

const std::vector<int> &Model::liveEdges(int node) {
  std::erase_if(nodes[node].edges, [&](int edge) { return !edges[edge].alive; });
  return nodes[node].edges;
}

std::vector<int64_t> Model::orientedTable(int edge, int rows) const {
  const Edge &e = edges[edge];
  if (e.first == rows)
    return e.table;
  size_t height = nodes[e.first].size(), width = nodes[e.second].size();
  std::vector<int64_t> turned(e.table.size());
  for (size_t s = 0; s < height; ++s)
    for (size_t t = 0; t < width; ++t)
      turned[t * height + s] = e.table[s * width + t];
  return turned;
}

/// Drops the entries of a list but those kept.
static void compact(std::vector<int64_t> &values, const std::vector<int> &kept) {
  for (size_t s = 0; s < kept.size(); ++s)
    values[s] = values[kept[s]];
  values.resize(kept.size());
}

void Model::keepStrategies(int node, const std::vector<int> &kept) {
  size_t before = nodes[node].size();
  infeasible |= kept.empty();
  if (kept.size() == before || infeasible)
    return;
  for (int edge : liveEdges(node)) {
    std::vector<int64_t> &table = edges[edge].table;
    size_t width = nodes[edges[edge].second].size(), height = table.size() / width;
    std::vector<int64_t> smaller;
    smaller.reserve(table.size() / before * kept.size());
    if (edges[edge].first == node) {
      for (int s : kept)
        smaller.insert(smaller.end(), &table[s * width], &table[s * width] + width);
    } else {
      for (size_t s = 0; s < height; ++s)
        for (int t : kept)
          smaller.push_back(table[s * width + t]);
    }
    table = std::move(smaller);
  }
  compact(nodes[node].cost, kept);
  for (TimedUsage &usage : nodes[node].usages)
    compact(usage.amount, kept);
  trail.noteKept(node, kept);
}

/// Sweeps over the times at which usages begin and end; joins neighbours that are the same.
void Model::normalizeUsages(int node) {
  std::vector<TimedUsage> &usages = nodes[node].usages;
  std::vector<std::tuple<int, int, int>> events; // time, sign, usage
  for (size_t i = 0; i < usages.size(); ++i) {
    events.emplace_back(usages[i].begin, 1, int(i));
    events.emplace_back(usages[i].end, -1, int(i));
  }
  std::sort(events.begin(), events.end());
  std::vector<TimedUsage> disjoint;
  std::vector<int64_t> sum(nodes[node].size(), 0);
  for (size_t i = 0; i < events.size();) {
    int time = std::get<0>(events[i]);
    for (; i < events.size() && std::get<0>(events[i]) == time; ++i) {
      auto [when, sign, usage] = events[i];
      for (size_t s = 0; s < sum.size(); ++s)
        sum[s] += sign * usages[usage].amount[s];
    }
    if (!disjoint.empty() && disjoint.back().end == time && disjoint.back().amount == sum)
      disjoint.back().end = std::get<0>(events[i]); // the last sum is zero: there are more events
    else if (i < events.size() && std::any_of(sum.begin(), sum.end(), [](int64_t a) { return a; }))
      disjoint.push_back({time, std::get<0>(events[i]), sum});
  }
  usages = std::move(disjoint);
}
