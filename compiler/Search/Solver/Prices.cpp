//===- Prices.cpp - prices of memory --------------------------------------===//

#include "compiler/Search/Solver/Prices.h"

#include <algorithm>
#include <cmath>

using namespace weft::solver;

namespace {
constexpr int polyakUpdates = 40;
constexpr double averageShare = 0.1;                 // of the newest gradient
constexpr double volumeFactor = 0.1;                 // first step of the volume method
constexpr double factorGain = 1.1, factorLoss = 0.7; // of steps, after gains and failures
constexpr int mostFailures = 10;
constexpr double noticeable = 1e-4; // of the distance to the target
} // namespace

PriceSearch::PriceSearch(const Core &core, Dual &dual)
    : core(core), dual(dual), best(core.capacity.size(), 0.0), trial(best), gradient(best),
      average(best), bestBound(dual.sweep()), noticed(bestBound) {
  measure();
  average = gradient;
}

PriceSearch::PriceSearch(const Core &core, Dual &dual, std::span<const double> prices)
    : core(core), dual(dual), best(prices.begin(), prices.end()), trial(best),
      gradient(core.capacity.size(), 0.0), factor(volumeFactor), updates(polyakUpdates) {
  dual.setPrices(best);
  bestBound = noticed = measure();
  average = gradient;
}

/// The gradient: how much more the nodes' cheapest strategies use than there is. Returns the bound.
double PriceSearch::measure() {
  dual.sweep();
  double bound = dual.sweep();
  std::vector<int64_t> load(core.capacity.size() + 1, 0);
  for (int u = 0; u < core.numNodes(); ++u)
    for (const Core::Usage &usage : core.usages(u)) {
      int64_t amount = core.amounts[usage.amount + dual.cheapest()[u]];
      load[usage.begin] += amount;
      load[usage.end] -= amount;
    }
  int64_t sum = 0;
  for (size_t t = 0; t < core.capacity.size(); ++t) {
    sum += load[t];
    gradient[t] = double(sum - core.capacity[t]);
  }
  return bound;
}

void PriceSearch::moveTrial(double target) {
  bool polyak = updates < polyakUpdates;
  const std::vector<double> &from = polyak ? trial : best, &along = polyak ? gradient : average;
  double norm = 0;
  for (size_t t = 0; t < from.size(); ++t)
    if (from[t] > 0 || along[t] > 0)
      norm += along[t] * along[t];
  double gap = std::max(target - bestBound, 1e-9 * std::abs(bestBound));
  double step = norm > 0 ? factor * gap / norm : 0;
  for (size_t t = 0; t < from.size(); ++t)
    trial[t] = std::max(0.0, from[t] + step * along[t]);
}

void PriceSearch::note(double bound) {
  bool polyak = updates < polyakUpdates;
  if (bound > bestBound) {
    bestBound = bound;
    best = trial;
    failures = 0;
    if (!polyak)
      factor = std::min(factor * factorGain, 1.0);
  } else if (++failures >= mostFailures) {
    failures = 0;
    factor *= factorLoss;
  }
  if (++updates == polyakUpdates) {
    factor = volumeFactor;
    average = gradient;
  }
}

void PriceSearch::step(double target) {
  moveTrial(target);
  dual.setPrices(trial);
  double bound = measure();
  for (size_t t = 0; t < average.size(); ++t)
    average[t] += averageShare * (gradient[t] - average[t]);
  note(bound);
  if (bestBound > noticed + noticeable * std::abs(target - noticed)) {
    noticed = bestBound;
    stalled = 0;
  } else {
    ++stalled;
  }
}
