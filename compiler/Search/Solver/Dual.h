//===- Dual.h - lower bounds by message passing -----------------*- C++ -*-===//
//
// Sequential tree-reweighted message passing (TRW-S; Kolmogorov 2006): a block-coordinate ascent on
// the dual of the pairwise linear relaxation. A sweep visits the nodes forwards, then backwards;
// each gathers what its neighbours tell it, spreads its cost over its chains, and tells its
// neighbours of the direction what each of their strategies would cost at least.
//
// Prices on times (the Lagrange multipliers of the capacities) add price × usage to node costs; the
// bound of the capacitated problem is the bound with prices less Σ price · capacity.
//
// Worked example (SolverTest.cpp): nodes of costs [0, 4] and [4, 0], and an edge that costs 5 where
// they choose differently. The least of each part sums to 0. The first tells the second what each
// of its strategies costs at least: [min(0, 4 + 5), min(0 + 5, 4)] = [0, 4]; with its own costs
// that is [4, 4], and the bound is 4: the optimum, as on every tree.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_DUAL_H
#define WEFT_COMPILER_SEARCH_SOLVER_DUAL_H

#include "compiler/Search/Solver/Core.h"

namespace weft::solver {

/// Sums of prices: over the times [begin, end) they are prefix[end] − prefix[begin].
std::vector<double> sumPrices(std::span<const double> prices);

/// The sum of the least of every node and edge.
int64_t trivialBound(const Core &core);

class Dual {
public:
  explicit Dual(const Core &core);

  /// Prices, one a time; messages are kept.
  void setPrices(std::span<const double> prices);

  /// Leaves out strategies, flagged as in Core::cost, from the next setPrices on.
  void exclude(std::span<const char> flags) { excluded.assign(flags.begin(), flags.end()); }

  /// One sweep. Returns the bound that its backward pass proves, up to rounding in floating point;
  /// core.constant is not in it.
  double sweep();

  /// The strategies that cost each node least in the last backward pass: where they differ from an
  /// answer, they still give the bound's gradient by price.
  const std::vector<int> &cheapest() const { return choice; }

  /// The bound proved without rounding: the last messages and prices are rounded to fixed-point
  /// numbers and one backward pass is done in integers. Any messages give a valid bound, so this
  /// loses only as much as rounding loosens them. Includes core.constant; at most the true optimum.
  int64_t certify() const;

  /// Chooses node by node what looks cheapest, given the choices before and the messages from
  /// behind, among the strategies that no choice before forbids and that fit.
  std::vector<int> decode() const;

  /// Table entries that a sweep reads.
  int64_t work() const { return 2 * int64_t(core.tables.size()); }

private:
  struct Message {
    size_t toFirst, toSecond; ///< into `messages`
  };
  void gather(int node);
  void send(int node, const Core::Neighbour &to, float share);
  float *message(int edge, int to);
  const float *message(int edge, int to) const;

  const Core &core;
  DirectedTables<float> tables;
  std::vector<Message> where;
  std::vector<float> messages;
  std::vector<float> unary;  ///< priced costs, each node's least subtracted
  std::vector<size_t> begin; ///< of each node in `unary`, rows padded
  std::vector<float> share;  ///< 1 / the number of chains through each node
  std::vector<double> prices;
  std::vector<char> excluded; ///< by strategy; empty: none
  std::vector<int> choice;
  double offset = 0;                 ///< what was subtracted from `unary`, and Σ price · capacity
  double proved = 0;                 ///< by the pass under way
  std::vector<float> gathered, sent; ///< of the node under way
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_DUAL_H
