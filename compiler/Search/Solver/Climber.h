//===- Climber.h - a worker that improves answers ---------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_CLIMBER_H
#define WEFT_COMPILER_SEARCH_SOLVER_CLIMBER_H

#include "compiler/Search/Solver/LocalSearch.h"
#include "compiler/Search/Solver/Slice.h"

namespace weft::solver {

/// Local search with restarts: where nothing gets better for long, it goes on from another answer
/// of the pool, or from its best after some kicks.
class Climber {
public:
  Climber(const Core &core, const DirectedTables<double> &tables, uint64_t seed);

  /// Goes on for a slice. `last`: the end is near, all work is on the best answer.
  void run(const Slice &slice, const Assignment &best, const std::vector<Assignment> &pool,
           bool last);
  void setPrices(std::span<const double> prices) { search.setPrices(prices); }
  const Assignment &best() const { return own; }
  bool started() const { return !own.choices().empty(); }

private:
  void begin(const Assignment &from);
  void restart(const Assignment &best, const std::vector<Assignment> &pool);
  void note();

  const Core &core;
  Random random;
  LocalSearch search;
  Assignment own; ///< the best so far
  Value reached;  ///< since the last restart
  int idle = 0;   ///< regions since `reached`
  bool finishing = false;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_CLIMBER_H
