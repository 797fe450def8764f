//===- Branching.cpp - a bound that is raised by cases --------------------===//

#include "compiler/Search/Solver/Branching.h"

#include <algorithm>
#include <cmath>

using namespace weft::solver;

namespace {
constexpr int updatesOfPart = 40; // of its prices
constexpr int certifyingSweeps = 5;
constexpr size_t mostNumbers = 30'000'000; // prices and strategies of all parts: bounds memory
} // namespace

Branching::Branching(const Core &core, Dual &dual, std::span<const double> prices, int64_t bound)
    : core(core), dual(dual) {
  Part whole{bound, {prices.begin(), prices.end()}, {}, {}};
  whole.excluded.assign(core.cost.size(), 0);
  parts.push_back(std::move(whole));
}

int64_t Branching::workOf(const Core &core) {
  int64_t update = 4 * int64_t(core.tables.size() + core.capacity.size());
  return 2 * (updatesOfPart + certifyingSweeps) * update;
}

int64_t Branching::bound() const {
  int64_t least = parts.empty() ? INT64_MAX : parts.front().bound;
  for (const Part &part : waiting)
    least = std::min(least, part.bound);
  return least;
}

/// Begins the search for a part's prices, after a split if none waits.
bool Branching::beginPart(const Value &best) {
  if (waiting.empty() && !split(best))
    return false;
  Part &part = waiting.back();
  part.counts.assign(core.cost.size(), 0);
  dual.exclude(part.excluded);
  search.emplace(core, dual, part.prices);
  updates = 0;
  return true;
}

/// Splits the part with the least bound.
bool Branching::split(const Value &best) {
  if (parts.empty() || parts.front().bound >= best.cost) { // the least: all are done
    parts.clear();
    return false;
  }
  int node = mixedNode(parts.front());
  if (node < 0 || parts.size() * (core.capacity.size() + core.cost.size()) > mostNumbers)
    return false;
  std::vector<char> side = sideOf(parts.front(), node);
  std::pop_heap(parts.begin(), parts.end());
  waiting.assign(2, parts.back());
  parts.pop_back();
  for (int s = 0; s < core.size[node]; ++s)
    waiting[side[s]].excluded[core.strategy[node] + s] = 1;
  return true;
}

void Branching::updatePrices(const Value &best) {
  search->step(double(best.cost - core.constant));
  std::vector<int> &counts = waiting.back().counts;
  for (int u = 0; u < core.numNodes(); ++u)
    ++counts[core.strategy[u] + dual.cheapest()[u]];
  work += search->work();
  ++updates;
}

/// Certifies the bound of a part under the prices found, and keeps the part if there is need to.
void Branching::finishPart(const Value &best) {
  Part part = std::move(waiting.back());
  waiting.pop_back();
  part.prices = search->prices();
  search.reset();
  dual.setPrices(part.prices);
  for (int i = 0; i < certifyingSweeps; ++i)
    dual.sweep();
  part.bound = std::max(part.bound, dual.certify());
  Assignment answer(core, dual.decode());
  if (answer.value() < best)
    decoded.push_back(std::move(answer));
  work += (certifyingSweeps + 2) * dual.work();
  if (part.bound >= best.cost)
    return;
  parts.push_back(std::move(part));
  std::push_heap(parts.begin(), parts.end());
}

void Branching::run(const Slice &slice, const Value &best) {
  work = 0;
  do {
    stopped = !search && !beginPart(best);
    if (stopped)
      return;
    updatePrices(best);
    if (updates == updatesOfPart || search->bound() > double(best.cost - core.constant))
      finishPart(best);
  } while (!slice.over(work));
}

bool Branching::isOpen(const Part &part, int node) const {
  auto first = part.excluded.begin() + core.strategy[node];
  return std::count(first, first + core.size[node], 0) > 1;
}

/// What each strategy's usages cost under the part's prices.
std::vector<double> Branching::pricedUsages(const Part &part, int node) const {
  std::vector<double> sums(core.size[node], 0.0);
  for (const Core::Usage &usage : core.usages(node)) {
    double price = 0;
    for (int t = usage.begin; t < usage.end; ++t)
      price += part.prices[t];
    for (int s = 0; s < core.size[node]; ++s)
      sums[s] += price * double(core.amounts[usage.amount + s]);
  }
  return sums;
}

/// The node whose priced usage varies most in what was cheapest; else one whose choice does; else
/// any that has a choice, or -1.
int Branching::mixedNode(const Part &part) const {
  int node = -1;
  std::pair<double, double> most{-1, -1};
  for (int u = 0; u < core.numNodes(); ++u) {
    if (!isOpen(part, u))
      continue;
    const int *counts = part.counts.empty() ? nullptr : &part.counts[core.strategy[u]];
    double total = 0, mean = 0, spread = 0, largest = 0;
    std::vector<double> usage = pricedUsages(part, u);
    for (int s = 0; counts && s < core.size[u]; ++s) {
      total += counts[s];
      mean += counts[s] * usage[s];
      largest = std::max(largest, double(counts[s]));
    }
    for (int s = 0; total > 0 && s < core.size[u]; ++s)
      spread += counts[s] / total * std::abs(usage[s] - mean / total);
    std::pair<double, double> mixing{spread, total > 0 ? 1 - largest / total : 0};
    if (mixing > most) {
      most = mixing;
      node = u;
    }
  }
  return node;
}

/// Strategies that use more than the mean of what was cheapest; where that does not split them, the
/// one that was cheapest most often.
std::vector<char> Branching::sideOf(const Part &part, int node) const {
  size_t first = core.strategy[node];
  std::vector<double> usage = pricedUsages(part, node);
  double total = 0, mean = 0;
  int favourite = -1;
  for (int s = 0; s < core.size[node]; ++s) {
    if (part.excluded[first + s])
      continue;
    int count = part.counts.empty() ? 1 : part.counts[first + s];
    total += count;
    mean += count * usage[s];
    if (favourite < 0 || (!part.counts.empty() && count > part.counts[first + favourite]))
      favourite = s;
  }
  std::vector<char> side(core.size[node], 0);
  int in = 0, out = 0;
  for (int s = 0; s < core.size[node]; ++s) {
    if (part.excluded[first + s])
      continue;
    side[s] = total > 0 && usage[s] > mean / total;
    ++(side[s] ? in : out);
  }
  if (in == 0 || out == 0) {
    std::fill(side.begin(), side.end(), 0);
    side[favourite] = 1;
  }
  return side;
}
