//===- Assignment.h - a choice for every node of a core ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_ASSIGNMENT_H
#define WEFT_COMPILER_SEARCH_SOLVER_ASSIGNMENT_H

#include "compiler/Search/Solver/Core.h"

#include <tuple>

namespace weft::solver {

/// How good an answer is: first that nothing forbidden is chosen, then that it fits, then its cost.
struct Value {
  int64_t conflicts = 0; ///< forbidden strategies and pairs
  Wide excess = 0;       ///< usage above capacity, summed over the times
  int64_t cost = 0;      ///< of what is not forbidden, core.constant included

  bool feasible() const { return conflicts == 0 && excess == 0; }
  auto key() const { return std::tie(conflicts, excess, cost); }
  bool operator<(const Value &other) const { return key() < other.key(); }
  bool operator<=(const Value &other) const { return key() <= other.key(); }
};

/// A choice with what it uses at each time.
class Assignment {
public:
  Assignment() = default;
  Assignment(const Core &core, std::vector<int> choice);

  const std::vector<int> &choices() const { return choice; }
  int operator[](int node) const { return choice[node]; }
  const std::vector<int64_t> &loads() const { return load; }
  const Value &value() const { return worth; }

  /// What the value would be with other choices for some nodes, in ascending order, none of them
  /// what it is now; `loadAfter` are the loads then, at the times [begin, end), outside of which
  /// none changes.
  Value valueWith(const Core &core, std::span<const int> nodes, std::span<const int> strategies,
                  std::span<const int64_t> loadAfter, int begin, int end) const;
  void change(std::span<const int> nodes, std::span<const int> strategies,
              std::span<const int64_t> loadAfter, int begin, int end, const Value &value);

private:
  std::vector<int> choice;
  std::vector<int64_t> load;
  Value worth;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_ASSIGNMENT_H
