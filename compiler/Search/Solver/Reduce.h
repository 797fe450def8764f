//===- Reduce.h - exact reductions ------------------------------*- C++ -*-===//
//
// Shrinks a problem without losing its optimum. Each function applies one rule wherever it holds
// and returns the number of changes; `reduce` repeats them until they change little. Sources: arc
// consistency (Mackworth 1977), dead-end elimination for dominance (Desmet et al. 1992; Goldstein
// 1994), elimination of variables of degree ≤ 2 as in weighted CSP solvers (Larrosa 2000), clique
// times of interval graphs.
//
// Worked example (SolverTest.cpp): Instance.h's. At times 0 and 2 one node is alive alone, and
// fits: these times go. At time 1 the two use at least 2 + 3 of 6: left are a capacity of 1 and
// usages [2, 0] and [0, 1]. The first strategy of node 0 does not fit and goes; node 0 has one
// strategy then, and is eliminated into node 1: [5 + 9 + 2, 5 + 0 + 3]. What that uses fits in any
// case, so that this time goes too; the second strategy dominates the first, and 8 is left.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_REDUCE_H
#define WEFT_COMPILER_SEARCH_SOLVER_REDUCE_H

#include "compiler/Search/Solver/Model.h"

#include <functional>

namespace weft::solver {

/// Reduces until nothing changes, changes get rare in a large problem, or `expired` says so. Sets
/// model.infeasible where that is proved.
void reduce(Model &model, const std::function<bool()> &expired);

/// Subtracts each node's smallest usage from the capacities; drops usages that are the same for
/// every strategy, and times where the largest usages fit or that a neighbouring time implies.
int reduceTimes(Model &model);

/// Drops strategies that are forbidden, or forbidden with every strategy of some neighbour.
int removeUnsupported(Model &model);

/// Drops strategies that use more than there is even if all others use least.
int removeOversized(Model &model);

/// Joins nodes where, on an edge, each strategy of one (the leader) allows exactly one of the other
/// (the follower): the follower's costs, usages and edges become the leader's. A table of the
/// follower may grow by this, up to `largestTable` entries.
int mergeFollowers(Model &model, size_t largestTable);

/// Drops edges whose table is a sum of a row's and a column's share.
int removeSeparable(Model &model);

/// Drops a strategy where another costs no more whatever the neighbours choose and never uses more.
int removeDominated(Model &model, const std::function<bool()> &expired);

/// Removes nodes without usage that have at most two neighbours, into the table of these, of up to
/// `largestTable` entries.
int eliminateSmall(Model &model, size_t largestTable);

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_REDUCE_H
