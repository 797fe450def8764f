//===- Solver.h - answers with a lower bound, any time ----------*- C++ -*-===//
//
//   reduce ─ core ─ messages ─┬─ proved already? ─ done
//                             ├─ exact search, if small ─ done
//                             └─ rounds: prices and decodings │ local search │ local search …
//                                        then cases, if small │       …
//
// A round gives every worker the same amount of work, or of time, and ends with an exchange of
// prices and answers in the workers' order: what is found depends on the seed, the number of
// workers and the number of rounds, not on how fast each runs, unless a time limit ends it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_SOLVER_H
#define WEFT_COMPILER_SEARCH_SOLVER_SOLVER_H

#include "compiler/Search/Solver/Instance.h"

#include <chrono>
#include <functional>

namespace weft::solver {

/// What is known at some time.
struct Progress {
  std::optional<int64_t> cost; ///< of the best answer
  int64_t lowerBound = 0;
  double seconds = 0; ///< since Options::start

  /// The part of the cost that may be too much, from 0 to 1; 1 where it says nothing.
  double gap() const;
};

struct Options {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  double timeLimit = 60; ///< seconds since `start`; may be infinite where rounds are counted
  int threads = 2;
  int workers = 0; ///< two at least; 0: one a thread
  uint64_t seed = 1;
  int64_t iterations = 0; ///< rounds of fixed work; 0: rounds are timed, until the time limit
  int64_t roundWork = 20'000'000; ///< of a worker, in table entries read
  /// Stops, too, where it is proved that every answer costs as much.
  int64_t costLimit = forbidden;
  /// After so many rounds, where it is above 0, goes on only from an answer, and only where it is
  /// not proved that every one costs as much.
  int64_t firstIterations = 0, hopefulCost = forbidden;
  /// Stops, too, where it is proved that no answer is better than the best by more than this share
  /// of its cost.
  double gapLimit = 0;
  std::function<void(const Progress &)> report; ///< called with each better answer or proof
};

enum class Status { Optimal, Feasible, Infeasible, Unknown };

struct Result {
  Status status = Status::Unknown;
  std::vector<int> answer; ///< a strategy a node, if Optimal or Feasible
  Progress progress;
};

/// Solves an instance. Stops at the time limit (a fraction of a second late at most), after the
/// iterations, or with a proof. The answer's cost is evaluated on the instance's own tables.
Result solve(const Instance &instance, const Options &options);

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_SOLVER_H
