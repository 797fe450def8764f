//===- Prices.h - prices of memory ------------------------------*- C++ -*-===//
//
// Maximises the lower bound over the prices of times. Two phases: a subgradient ascent with
// Polyak's step, whose overshooting prices decode into answers of many kinds, then the volume
// method (Barahona, Anbil 2000): steps from the best prices so far along an average of the
// gradients. Messages are kept from update to update, so that two sweeps suffice for each.
//
// Worked example (SolverTest.cpp): two nodes, alive at once, each costs 0 and uses 2 or costs 3 and
// uses 0; the capacity is 3. At a price p the bound is 2 · min(2p, 3) - 3p: greatest at p = 1.5,
// where it is 1.5. The optimum is 3; Branching.h closes the gap.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_PRICES_H
#define WEFT_COMPILER_SEARCH_SOLVER_PRICES_H

#include "compiler/Search/Solver/Dual.h"

namespace weft::solver {

class PriceSearch {
public:
  /// Sweeps go on from the messages of `dual`.
  PriceSearch(const Core &core, Dual &dual);
  /// The volume method alone, from these prices.
  PriceSearch(const Core &core, Dual &dual, std::span<const double> prices);

  /// One update of the prices. `target` is the cost of a known answer, or what the optimum is
  /// thought to cost.
  void step(double target);

  double bound() const { return bestBound; } ///< in floating point; core.constant is not in it
  const std::vector<double> &prices() const { return best; }
  /// Failures to improve the bound noticeably, in a row.
  int idle() const { return stalled; }
  int64_t work() const { return 2 * dual.work() + 4 * int64_t(core.capacity.size()); }

private:
  void moveTrial(double target);
  double measure();
  void note(double bound);

  const Core &core;
  Dual &dual;
  std::vector<double> best, trial, gradient, average;
  double bestBound, factor = 1.0;
  int updates = 0, failures = 0, stalled = 0;
  double noticed; ///< the bound when last it improved noticeably
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_PRICES_H
