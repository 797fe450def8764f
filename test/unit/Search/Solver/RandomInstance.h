//===- RandomInstance.h - small problems, and their optimum -----*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_SEARCH_SOLVER_RANDOMINSTANCE_H
#define WEFT_TEST_UNIT_SEARCH_SOLVER_RANDOMINSTANCE_H

#include "compiler/Search/Solver/Instance.h"
#include "compiler/Search/Solver/Random.h"

namespace weft::solver {

/// What random problems are like.
struct Shape {
  int nodes = 5, strategies = 4, edges = 7, times = 6;
  double forbidden = 0.2; ///< share of the pairs, a tenth of it of the strategies
  double tightness = 0.5; ///< of the limit; 0: no limit
  bool hyperedges = true; ///< some edges have one node, the same node twice, or three
};

/// Node and edge counts and the tightness vary below those of `shape`; some intervals are empty,
/// some edges parallel.
Instance randomInstance(Random &random, const Shape &shape);

/// The least cost of any feasible answer, trying all; none if there is none.
std::optional<Wide> bruteForce(const Instance &instance);

} // namespace weft::solver

#endif // WEFT_TEST_UNIT_SEARCH_SOLVER_RANDOMINSTANCE_H
