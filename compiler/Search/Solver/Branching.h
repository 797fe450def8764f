//===- Branching.h - a bound that is raised by cases ------------*- C++ -*-===//
//
// Prices leave a gap where the best answers under them mix: half of the time a node takes a cheap
// strategy that uses much, half of the time a dear one that uses little. Such a node's strategies
// are split in two, and each part of the problem gets prices of its own; the bound of the whole is
// the least bound of its parts (branch and bound with Lagrangian bounds; Geoffrion 1974). The part
// with the least bound is split next. Parts that the best answer's cost has reached are done.
//
// Worked example (SolverTest.cpp): the nodes of Prices.h, whose bound with prices is 1.5. Where the
// first keeps the strategy of cost 3 the bound is 3, at price 0. Where it keeps the other it still
// is 1.5, until the second is split too: both use 2, which no price makes fit, or one costs 3. The
// bound of the whole is 3.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_BRANCHING_H
#define WEFT_COMPILER_SEARCH_SOLVER_BRANCHING_H

#include "compiler/Search/Solver/Assignment.h"
#include "compiler/Search/Solver/Prices.h"
#include "compiler/Search/Solver/Slice.h"

#include <optional>
#include <utility>

namespace weft::solver {

class Branching {
public:
  /// The whole problem is the first part; `prices` and `bound` are what an ascent has found for it.
  /// Goes on from the messages of `dual`, whose exclusions and prices it changes.
  Branching(const Core &core, Dual &dual, std::span<const double> prices, int64_t bound);

  /// Table entries that a split reads, about.
  static int64_t workOf(const Core &core);

  /// Goes on for a slice; `best` is feasible.
  void run(const Slice &slice, const Value &best);

  /// Certified; INT64_MAX where no part is left that may hold a better answer than the best.
  int64_t bound() const;
  /// Whether nothing is left to split, or too much to keep.
  bool ended() const { return stopped; }
  /// Answers decoded since the last call.
  std::vector<Assignment> takeDecoded() { return std::exchange(decoded, {}); }

private:
  struct Part {
    int64_t bound;
    std::vector<double> prices;
    std::vector<char> excluded; ///< by strategy, as Core::cost
    std::vector<int> counts;    ///< how often each strategy was the cheapest, in the last updates
    bool operator<(const Part &other) const { return bound > other.bound; } // heaps: least first
  };
  bool beginPart(const Value &best);
  bool split(const Value &best);
  void updatePrices(const Value &best);
  void finishPart(const Value &best);
  std::vector<double> pricedUsages(const Part &part, int node) const;
  int mixedNode(const Part &part) const;
  /// Which strategies of a node go to one side.
  std::vector<char> sideOf(const Part &part, int node) const;
  bool isOpen(const Part &part, int node) const;

  const Core &core;
  Dual &dual;
  std::vector<Part> parts;           ///< a heap
  std::vector<Part> waiting;         ///< for prices, the last one first
  std::optional<PriceSearch> search; ///< of the last one that waits
  int updates = 0;                   ///< of its prices
  bool stopped = false;
  std::vector<Assignment> decoded;
  int64_t work = 0;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_BRANCHING_H
