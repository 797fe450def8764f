//===- LocalSearch.h - large neighbourhoods ---------------------*- C++ -*-===//
//
// Improves an answer region by region (large-neighbourhood search; Shaw 1998): a random connected
// region is solved exactly for its costs, the others being kept. Capacities that the result exceeds
// get prices, by Polyak's rule from the gap between the present answer and the region's priced
// optimum, and the region is solved again; where the gap closes, the region holds nothing better. A
// result is taken if it fits and costs no more: equal ones too, so that plateaus are crossed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_LOCALSEARCH_H
#define WEFT_COMPILER_SEARCH_SOLVER_LOCALSEARCH_H

#include "compiler/Search/Solver/Assignment.h"
#include "compiler/Search/Solver/Elimination.h"
#include "compiler/Search/Solver/Regions.h"

#include <utility>

namespace weft::solver {

class LocalSearch {
public:
  LocalSearch(const Core &core, const DirectedTables<double> &tables, uint64_t seed);

  void start(const Assignment &from) { current = from; }
  const Assignment &answer() const { return current; }
  /// Prices of times, from which searches of a region may begin.
  void setPrices(std::span<const double> from) { basePrices.assign(from.begin(), from.end()); }

  /// Tries one region. Whether the answer got better.
  bool step();
  /// Changes one region to what is best under disturbed costs, if that is no less feasible.
  void kick();

  /// Table entries read since the last call.
  int64_t takeWork() { return elimination.takeWork() + std::exchange(work, 0); }

private:
  void drawRegion(double smallest, double largest);
  void coverTimes();
  void forbidOversized();
  void drawPrices();
  /// Solves the region under the prices, notes what changes; returns the value then.
  Value solve();
  void updateLoads();
  /// False if the region holds nothing better than the present answer.
  bool raisePrices(const Value &value);
  /// The same where the present answer does not fit. False if the region's does.
  bool escalatePrices();
  double spreadOf(std::span<const double> costs) const;

  const Core &core;
  Random random;
  Regions regions;
  Elimination elimination;
  Assignment current;
  std::vector<double> basePrices;

  // Of the region under way, which covers the times [begin, end).
  int begin = 0, end = 0;
  std::vector<int> covered;              ///< usages of the region at each time
  std::vector<double> baseCosts;         ///< of all places, without prices
  std::vector<double> prices, priceSums; ///< by time
  std::vector<int> changed, strategies;  ///< nodes, and what they change to
  std::vector<int64_t> after;            ///< loads then
  int64_t work = 0;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_LOCALSEARCH_H
