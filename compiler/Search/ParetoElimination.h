//===- ParetoElimination.h - all best answers by several costs --*- C++ -*-===//
//
// A strategy graph (Solver/Instance.h) whose choices have several costs, of which none is worth a
// fixed amount of another: seconds of a forward pass, bytes that are held. Looked for are all
// answers of which no other one is as good by every cost and better by one.
//
// Variables are eliminated one by one (bucket elimination; Dechter 1999): of the variable that is
// left whose neighbours have the fewest combinations, a table keeps for each of these the costs,
// all that are worth it, of what its strategies add. Strategies that another one of the same
// variable beats in every respect are dropped before.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_PARETOELIMINATION_H
#define WEFT_COMPILER_SEARCH_PARETOELIMINATION_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

inline constexpr size_t numCosts = 5;
/// In units of the instance; all at least 0.
using Costs = std::array<int64_t, numCosts>;

/// Whether `a` is as good as `b` by every cost.
bool isNoWorse(const Costs &a, const Costs &b);
Costs operator+(const Costs &a, const Costs &b);

struct CostInstance {
  struct Edge {
    unsigned from = 0, to = 0;  ///< variables
    std::vector<int64_t> costs; ///< row-major over the strategies of both; solver::forbidden
  };
  std::vector<std::vector<Costs>> variables; ///< by strategy; solver::forbidden in any: not to take
  std::vector<Edge> edges;
  size_t edgeCost = 0;         ///< which of the costs those of edges are
  std::optional<Costs> limits; ///< that an answer's costs may reach
};

struct CostAnswer {
  Costs costs{};
  std::vector<unsigned> strategies; ///< by variable
};

/// What an elimination may take.
struct EliminationLimits {
  size_t entries = 20'000; ///< of all tables that are looked at, together
  size_t answers = 32;     ///< kept of one table's entry
};

/// Answers that no other one beats, in the order of their costs.
struct ParetoSet {
  std::vector<CostAnswer> answers; ///< none where nothing keeps to the limits
  /// Whether every answer that is missing is beaten or equalled; else, of the best ones, where
  /// there were too many to keep some were left out that are near to others.
  bool isComplete = true;
};

/// None where the graph is too dense for the limits.
std::optional<ParetoSet> findParetoSet(const CostInstance &instance,
                                       const EliminationLimits &limits = {});

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_PARETOELIMINATION_H
