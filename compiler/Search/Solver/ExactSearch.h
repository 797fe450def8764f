//===- ExactSearch.h - small problems, to the end ---------------*- C++ -*-===//
//
// Two complete methods. Without capacities, elimination of the whole problem where its tables stay
// small. Otherwise depth-first branch and bound with forward checking: the node with the fewest
// strategies left comes next, its cheapest strategy first; a strategy is dropped where a chosen
// neighbour forbids it, where it no longer fits, or where the sum of what is paid and of the least
// that every other node and edge must pay reaches the best answer's cost.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_EXACTSEARCH_H
#define WEFT_COMPILER_SEARCH_SOLVER_EXACTSEARCH_H

#include "compiler/Search/Solver/Assignment.h"
#include "compiler/Support/SlackTree.h"

#include <functional>

namespace weft::solver {

class ExactSearch {
public:
  /// Looks for answers that cost less than `best`, if that is feasible.
  ExactSearch(const Core &core, const Assignment &best);

  /// Goes on for at most that many steps or until `expired`. True if the search came to its end:
  /// answer() is optimal, or nothing is feasible if that is not.
  bool run(int64_t steps, const std::function<bool()> &expired);
  const Assignment &answer() const { return best; }

private:
  struct Removed {
    int node, strategy;
  };
  struct Priced {
    int node, strategy;
    int64_t before;
  };

  bool search(int assigned);
  int nextNode() const;
  bool assign(int node, int strategy);
  void undo(int node, int strategy, size_t removedBefore, size_t pricedBefore);
  bool filter();
  bool remove(int node, int strategy);
  int64_t leastOf(int node) const;

  const Core &core;
  Assignment best;
  SlackTree slack;
  std::vector<int> choice;
  std::vector<std::vector<char>> left; ///< strategies of each node
  std::vector<int> leftCount;
  std::vector<std::vector<int64_t>> paying; ///< costs with what chosen neighbours add
  std::vector<int64_t> edgeLeast;
  std::vector<Removed> removed;
  std::vector<Priced> priced;
  int64_t paid = 0;      ///< by chosen nodes
  int64_t openEdges = 0; ///< the least of edges between open nodes
  int64_t steps = 0;
  std::function<bool()> expired;
  bool stopped = false;
};

/// The optimum of a core without capacities by elimination; none if a table would exceed
/// `largestTable` entries.
std::optional<Assignment> eliminateWhole(const Core &core, double largestTable);

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_EXACTSEARCH_H
