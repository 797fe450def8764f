//===- Climber.h - a worker that improves answers ---------------*- C++ -*-===//
//
// Descends region by region until little is gained, then begins anew: from another answer of the
// pool, or from its best after some kicks. Which basin a descent ends in depends on where it
// begins, and answers decoded late, under good prices, lead to better ones. Near the end of the
// time work goes on from the best answer, as long as anything is gained.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_CLIMBER_H
#define WEFT_COMPILER_SEARCH_SOLVER_CLIMBER_H

#include "compiler/Search/Solver/LocalSearch.h"
#include "compiler/Search/Solver/Slice.h"

namespace weft::solver {

/// What climbers share, as of the last exchange.
struct Shared {
  Assignment best;
  std::vector<Assignment> pool; ///< feasible ones from decoding, the cheapest first
  int64_t bound = INT64_MIN;    ///< on the cost of all answers
};

class Climber {
public:
  Climber(const Core &core, const DirectedTables<double> &tables, uint64_t seed);

  /// Goes on for a slice. `last`: the end is near, all work is on the best answer.
  void run(const Slice &slice, const Shared &shared, bool last);
  void setPrices(std::span<const double> prices) { search.setPrices(prices); }
  const Assignment &best() const { return own; }
  bool started() const { return !own.choices().empty(); }

private:
  void choose(const Shared &shared, bool last);
  void begin(const Assignment &from);
  void beginFromPool(const std::vector<Assignment> &pool);
  void restart(const Shared &shared);
  void advance();
  bool settles(int64_t bound, bool last);

  const Core &core;
  Random random;
  LocalSearch search;
  Assignment own;         ///< the best so far
  Value reached;          ///< since the last restart
  int idle = 0;           ///< regions since `reached`
  Value windowStart;      ///< what was reached when the window under way began
  int64_t windowWork = 0; ///< table entries read since
  bool finishing = false;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_CLIMBER_H
