//===- LocalSearch.cpp - large neighbourhoods -----------------------------===//

#include "compiler/Search/Solver/LocalSearch.h"

#include <algorithm>
#include <cmath>

using namespace weft::solver;

namespace {
constexpr double smallestRegion = 10, largestRegion = 400;  // nodes
constexpr double smallestTable = 300, largestTable = 30000; // entries
constexpr int mostTries = 8;                                // of a region, prices rising
constexpr double clumpedShare = 0.25; // of the regions: grown from several nodes
constexpr double unpricedShare = 0.3; // of the regions: begun without prices
} // namespace

LocalSearch::LocalSearch(const Core &core, const DirectedTables<double> &tables, uint64_t seed)
    : core(core), random(seed), regions(core), elimination(core, tables),
      basePrices(core.capacity.size(), 0.0), covered(core.capacity.size() + 1, 0),
      prices(core.capacity.size(), 0.0), priceSums(core.capacity.size() + 1, 0.0),
      after(core.capacity.size() + 1, 0) {}

//===----------------------------------------------------------------------===//
// One region
//===----------------------------------------------------------------------===//

void LocalSearch::drawRegion(double smallest, double largest) {
  size_t count = size_t(random.logBetween(smallest, largest));
  int clumps = random.unit() < clumpedShare ? 2 + random.below(2) : 1;
  double entries = random.logBetween(smallestTable, largestTable);
  elimination.plan(regions.draw(random, count, clumps), entries);
  elimination.condition(current.choices());
  coverTimes();
  forbidOversized();
  baseCosts.clear();
  for (size_t i = 0; i < elimination.nodes().size(); ++i)
    for (double cost : elimination.costs(int(i)))
      baseCosts.push_back(cost);
}

void LocalSearch::coverTimes() {
  begin = int(core.capacity.size());
  end = 0;
  for (int node : elimination.nodes())
    for (const Core::Usage &usage : core.usages(node)) {
      begin = std::min(begin, usage.begin);
      end = std::max(end, usage.end);
    }
  begin = std::min(begin, end);
  std::fill(covered.begin() + begin, covered.begin() + end + 1, 0);
  for (int node : elimination.nodes())
    for (const Core::Usage &usage : core.usages(node)) {
      ++covered[usage.begin];
      --covered[usage.end];
    }
  for (int t = begin + 1; t < end; ++t)
    covered[t] += covered[t - 1];
  work += end - begin;
}

/// Strategies that do not fit even if the rest of the region uses nothing.
void LocalSearch::forbidOversized() {
  int64_t cells = 0;
  for (int node : elimination.nodes())
    for (const Core::Usage &usage : core.usages(node))
      cells += usage.end - usage.begin;
  constexpr int64_t worthwhile = 100'000; // times to look at
  if (cells > worthwhile || !current.value().feasible())
    return;
  std::copy(current.loads().begin() + begin, current.loads().begin() + end, after.begin() + begin);
  for (int node : elimination.nodes())
    for (const Core::Usage &usage : core.usages(node))
      for (int t = usage.begin; t < usage.end; ++t)
        after[t] -= core.amounts[usage.amount + current[node]];
  for (size_t i = 0; i < elimination.nodes().size(); ++i)
    for (const Core::Usage &usage : core.usages(elimination.nodes()[i])) {
      int64_t slack = INT64_MAX;
      for (int t = usage.begin; t < usage.end; ++t)
        slack = std::min(slack, core.capacity[t] - after[t]);
      std::span<double> costs = elimination.costs(int(i));
      for (size_t s = 0; s < costs.size(); ++s)
        if (core.amounts[usage.amount + s] > slack)
          costs[s] += double(core.penalty);
    }
  work += cells / 4;
}

void LocalSearch::drawPrices() {
  double factor = 0;
  if (random.unit() >= unpricedShare) {
    double exponents[] = {-1.5, 0, 0, 1.5};
    factor = std::exp2(exponents[random.below(4)]);
  }
  for (int t = begin; t < end; ++t)
    prices[t] = covered[t] ? factor * basePrices[t] : 0;
}

Value LocalSearch::solve() {
  priceSums[begin] = 0;
  for (int t = begin; t < end; ++t)
    priceSums[t + 1] = priceSums[t] + prices[t];
  const std::vector<int> &nodes = elimination.nodes();
  size_t next = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::span<double> costs = elimination.costs(int(i));
    std::copy_n(&baseCosts[next], costs.size(), costs.begin());
    next += costs.size();
    for (const Core::Usage &usage : core.usages(nodes[i])) {
      double price = priceSums[usage.end] - priceSums[usage.begin];
      if (price > 0)
        for (size_t s = 0; s < costs.size(); ++s)
          costs[s] += price * double(core.amounts[usage.amount + s]);
    }
  }
  const std::vector<int> &chosen = elimination.solve(random);
  changed.clear();
  strategies.clear();
  for (size_t i = 0; i < nodes.size(); ++i)
    if (chosen[i] != current[nodes[i]]) {
      changed.push_back(nodes[i]);
      strategies.push_back(chosen[i]);
    }
  updateLoads();
  return current.valueWith(core, changed, strategies, after, begin, end);
}

void LocalSearch::updateLoads() {
  std::fill(after.begin() + begin, after.begin() + end + 1, 0);
  for (size_t i = 0; i < changed.size(); ++i)
    for (const Core::Usage &usage : core.usages(changed[i])) {
      int64_t more = core.amounts[usage.amount + strategies[i]] -
                     core.amounts[usage.amount + current[changed[i]]];
      after[usage.begin] += more;
      after[usage.end] -= more;
    }
  int64_t more = 0;
  for (int t = begin; t < end; ++t) {
    more += after[t];
    after[t] = current.loads()[t] + more;
  }
  work += 2 * (end - begin);
}

/// With L(prices) = cost + Σ price · (load − capacity) at the region's optimum, a lower bound of
/// every answer that differs in the region alone, the step is (present cost − L) / ‖excess‖².
bool LocalSearch::raisePrices(const Value &value) {
  double gap = double(current.value().cost - value.cost), norm = 0;
  for (int t = begin; t < end; ++t) {
    double excess = double(after[t] - core.capacity[t]);
    gap -= prices[t] * excess;
    if (covered[t] && (prices[t] > 0 || excess > 0))
      norm += excess * excess;
  }
  work += 2 * (end - begin);
  if (gap <= 0 || norm == 0)
    return false;
  double step = gap * (0.7 + random.unit()) / norm;
  for (int t = begin; t < end; ++t)
    if (covered[t])
      prices[t] = std::max(0.0, prices[t] + step * double(after[t] - core.capacity[t]));
  return true;
}

/// Where the present answer does not fit there is no gap to go by: prices of what is exceeded grow
/// geometrically, from a share of what the region's costs differ by.
bool LocalSearch::escalatePrices() {
  constexpr double growth = 4, firstShare = 1.0 / 16;
  double most = 0;
  for (int t = begin; t < end; ++t)
    if (covered[t])
      most = std::max(most, double(after[t] - core.capacity[t]));
  if (most <= 0)
    return false;
  double spread = 1;
  for (size_t i = 0; i < elimination.nodes().size(); ++i)
    spread = std::max(spread, spreadOf(elimination.costs(int(i))));
  for (int t = begin; t < end; ++t)
    if (covered[t] && after[t] > core.capacity[t])
      prices[t] = std::max(growth * prices[t], firstShare * spread / most);
  work += 2 * (end - begin);
  return true;
}

/// The largest difference between costs that are not forbidden.
double LocalSearch::spreadOf(std::span<const double> costs) const {
  double least = *std::min_element(costs.begin(), costs.end()), most = least;
  for (double cost : costs)
    if (cost - least < double(core.penalty) / 2)
      most = std::max(most, cost);
  return most - least;
}

bool LocalSearch::step() {
  drawRegion(smallestRegion, largestRegion);
  drawPrices();
  for (int attempt = 0; attempt < mostTries; ++attempt) {
    Value value = solve();
    bool better = value < current.value();
    if (better || (value <= current.value() && !changed.empty())) {
      current.change(changed, strategies, after, begin, end, value);
      return better;
    }
    if (!(current.value().feasible() ? raisePrices(value) : escalatePrices()))
      return false;
  }
  return false;
}

void LocalSearch::kick() {
  drawRegion(smallestRegion, largestRegion / 4);
  drawPrices();
  double noise = std::exp2(-6.0 * random.unit());
  size_t next = 0;
  for (size_t i = 0; i < elimination.nodes().size(); ++i) {
    std::span<double> costs = elimination.costs(int(i));
    double spread = spreadOf(costs);
    for (size_t s = 0; s < costs.size(); ++s)
      baseCosts[next++] += noise * spread * random.unit();
  }
  for (int attempt = 0; attempt < mostTries; ++attempt) {
    Value value = solve();
    if (value.conflicts <= current.value().conflicts && value.excess <= current.value().excess)
      return current.change(changed, strategies, after, begin, end, value);
    for (int t = begin; t < end; ++t)
      if (after[t] > core.capacity[t])
        prices[t] = std::max(prices[t] * 2, basePrices[t]);
  }
}
