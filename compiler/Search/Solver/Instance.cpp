//===- Instance.cpp - validation and exact evaluation ---------------------===//

#include "compiler/Search/Solver/Instance.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace weft::solver;

std::string weft::solver::toString(Wide value) {
  if (value < 0)
    return "-" + toString(-value);
  std::string digits;
  do {
    digits.push_back(char('0' + int(value % 10)));
    value /= 10;
  } while (value);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

namespace {

[[noreturn]] void refuse(const std::string &message) { throw InstanceError(message); }

void expectCount(const char *what, size_t found, size_t expected) {
  if (found != expected)
    refuse(fmt::format("expected one entry of {} for each of {} nodes, got {}", what, expected,
                       found));
}

void validateNodes(const Instance &instance) {
  size_t n = instance.numNodes();
  if (instance.usageLimit || instance.usages.size() || !instance.intervals.empty()) {
    expectCount("nodes.intervals", instance.intervals.size(), n);
    expectCount("nodes.usages", instance.usages.size(), n);
  }
  for (size_t i = 0; i < n; ++i) {
    if (instance.costs[i].empty())
      refuse(fmt::format("node {} has no strategies", i));
    if (instance.usages.size() == 0)
      continue;
    if (instance.usages[i].size() != instance.costs[i].size())
      refuse(fmt::format("node {} has {} costs but {} usages", i, instance.costs[i].size(),
                         instance.usages[i].size()));
    for (int64_t usage : instance.usages[i])
      if (usage < 0)
        refuse(fmt::format("node {} has a negative usage, {}", i, usage));
  }
}

void validateEdges(const Instance &instance) {
  if (instance.edges.size() != instance.edgeCosts.size())
    refuse(fmt::format("edges.nodes names {} edges but edges.costs {}", instance.edges.size(),
                       instance.edgeCosts.size()));
  for (size_t e = 0; e < instance.edges.size(); ++e) {
    if (instance.edges[e].empty())
      refuse(fmt::format("edge {} has no nodes", e));
    Wide entries = 1;
    for (int64_t node : instance.edges[e]) {
      if (node < 0 || node >= int64_t(instance.numNodes()))
        refuse(fmt::format("edge {} names node {}, of {} nodes", e, node, instance.numNodes()));
      entries = std::min<Wide>(entries * Wide(instance.costs[node].size()), Wide(1) << 62);
    }
    if (entries != Wide(instance.edgeCosts[e].size()))
      refuse(fmt::format("edge {} has {} costs, but its nodes have {} combinations of strategies",
                         e, instance.edgeCosts[e].size(), toString(entries)));
  }
}

/// The largest finite cost, in magnitude.
int64_t largest(std::span<const int64_t> costs) {
  int64_t result = 0;
  for (int64_t cost : costs)
    if (cost < forbidden)
      result = std::max(result, cost == INT64_MIN ? INT64_MAX : std::abs(cost));
  return result;
}

Wide largestSum(const Ragged<int64_t> &lists) {
  Wide total = 0;
  for (size_t i = 0; i < lists.size(); ++i)
    total += largest(lists[i]);
  return total;
}

/// Usages that a node can have at all, each at its largest.
Wide largestUsage(const Instance &instance) {
  Wide total = 0;
  for (size_t i = 0; i < instance.usages.size(); ++i) {
    int64_t most = 0;
    for (int64_t usage : instance.usages[i])
      if (usage <= *instance.usageLimit)
        most = std::max(most, usage);
    total += most;
  }
  return total;
}

void validateUsages(const Instance &instance) {
  if (!instance.usageLimit)
    return;
  if (*instance.usageLimit < 0)
    refuse(fmt::format("usage_limit is negative, {}", *instance.usageLimit));
  Wide total = largestUsage(instance);
  if (total >= largestTotal && total > *instance.usageLimit)
    refuse(fmt::format("the largest usages sum to {}, but sums must stay below 2^59: divide the "
                       "usages and the limit by a common number",
                       toString(total)));
}

/// The largest sum of usages at any time, less the limit.
Wide largestExcess(const Instance &instance, std::span<const int> answer) {
  std::vector<std::pair<int64_t, int64_t>> events; // at equal times releases come first
  for (size_t i = 0; i < instance.numNodes(); ++i) {
    int64_t usage = instance.usages[i][answer[i]];
    Interval interval = instance.intervals[i];
    if (interval.begin < interval.end && usage > 0) {
      events.emplace_back(interval.begin, usage);
      events.emplace_back(interval.end, -usage);
    }
  }
  std::sort(events.begin(), events.end());
  Wide used = 0, most = 0;
  for (auto [time, change] : events)
    most = std::max(most, used += change);
  return most - *instance.usageLimit;
}

} // namespace

void weft::solver::validate(const Instance &instance) {
  validateNodes(instance);
  validateEdges(instance);
  validateUsages(instance);
  Wide total = largestSum(instance.costs) + largestSum(instance.edgeCosts);
  if (total >= largestTotal)
    refuse(fmt::format("the largest finite costs sum to {}, but sums must stay below 2^59: divide "
                       "the costs by a common number",
                       toString(total)));
}

Evaluation weft::solver::evaluate(const Instance &instance, std::span<const int> answer) {
  Evaluation result;
  auto add = [&](int64_t cost) {
    result.cost += cost;
    result.allowed &= cost < forbidden;
  };
  for (size_t i = 0; i < instance.numNodes(); ++i)
    add(instance.costs[i][answer[i]]);
  for (size_t e = 0; e < instance.edges.size(); ++e) {
    size_t index = 0;
    for (int64_t node : instance.edges[e])
      index = index * instance.costs[node].size() + answer[node];
    add(instance.edgeCosts[e][index]);
  }
  if (instance.usageLimit)
    result.excess = largestExcess(instance, answer);
  return result;
}
