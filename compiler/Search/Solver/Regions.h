//===- Regions.h - which nodes to solve together ----------------*- C++ -*-===//
//
// A region grows from a random node by random steps over edges. Some regions grow from two nodes
// that hold memory at the same time: room that one gives up is of use to the other, however far
// apart they are in the graph.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_REGIONS_H
#define WEFT_COMPILER_SEARCH_SOLVER_REGIONS_H

#include "compiler/Search/Solver/Core.h"
#include "compiler/Search/Solver/Random.h"

namespace weft::solver {

class Regions {
public:
  explicit Regions(const Core &core);

  /// Up to `count` nodes in `clumps` connected parts, the further parts grown from nodes that hold
  /// memory at the times of the first.
  std::vector<int> draw(Random &random, size_t count, int clumps);

private:
  void seed(int node);
  void grow(Random &random, size_t count);
  int partnerOf(Random &random, int node) const;

  const Core &core;
  std::vector<std::vector<int>> holders; ///< nodes with memory, by block of times
  std::vector<int> region, frontier;
  std::vector<char> marked; ///< in the region or the frontier
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_REGIONS_H
