//===- Assignment.cpp - a choice for every node of a core -----------------===//

#include "compiler/Search/Solver/Assignment.h"

#include <algorithm>

using namespace weft::solver;

static void add(Value &value, int64_t cost, int sign) {
  if (cost >= forbidden)
    value.conflicts += sign;
  else
    value.cost += sign * cost;
}

static Wide excessOver(const Core &core, std::span<const int64_t> load, int begin, int end) {
  Wide excess = 0;
  for (int t = begin; t < end; ++t)
    excess += std::max<int64_t>(load[t] - core.capacity[t], 0);
  return excess;
}

Assignment::Assignment(const Core &core, std::vector<int> choices)
    : choice(std::move(choices)), load(core.capacity.size() + 1, 0) {
  worth.cost = core.constant;
  for (int u = 0; u < core.numNodes(); ++u) {
    add(worth, core.cost[core.strategy[u] + choice[u]], 1);
    for (const Core::Usage &usage : core.usages(u)) {
      load[usage.begin] += core.amounts[usage.amount + choice[u]];
      load[usage.end] -= core.amounts[usage.amount + choice[u]];
    }
  }
  for (size_t t = 1; t < load.size(); ++t)
    load[t] += load[t - 1];
  load.resize(core.capacity.size());
  for (size_t e = 0; e < core.edges.size(); ++e) {
    int first = core.edges[e].first;
    add(worth, core.pairCost(int(e), first, choice[first], choice[core.edges[e].second]), 1);
  }
  worth.excess = excessOver(core, load, 0, int(load.size()));
}

Value Assignment::valueWith(const Core &core, std::span<const int> nodes,
                            std::span<const int> strategies, std::span<const int64_t> loadAfter,
                            int begin, int end) const {
  Value value = worth;
  auto chosenAfter = [&](int node) {
    auto found = std::lower_bound(nodes.begin(), nodes.end(), node);
    bool changed = found != nodes.end() && *found == node;
    return std::pair(changed, changed ? strategies[found - nodes.begin()] : choice[node]);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    int u = nodes[i];
    add(value, core.cost[core.strategy[u] + choice[u]], -1);
    add(value, core.cost[core.strategy[u] + strategies[i]], 1);
    for (const Core::Neighbour &v : core.neighbours(u)) {
      auto [changed, after] = chosenAfter(v.node);
      if (changed && v.node < u)
        continue; // counted there
      add(value, core.pairCost(v.edge, u, choice[u], choice[v.node]), -1);
      add(value, core.pairCost(v.edge, u, strategies[i], after), 1);
    }
  }
  value.excess += excessOver(core, loadAfter, begin, end) - excessOver(core, load, begin, end);
  return value;
}

void Assignment::change(std::span<const int> nodes, std::span<const int> strategies,
                        std::span<const int64_t> loadAfter, int begin, int end,
                        const Value &value) {
  for (size_t i = 0; i < nodes.size(); ++i)
    choice[nodes[i]] = strategies[i];
  std::copy(loadAfter.begin() + begin, loadAfter.begin() + end, load.begin() + begin);
  worth = value;
}
