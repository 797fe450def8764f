//===- Model.h - a strategy-graph problem that shrinks ----------*- C++ -*-===//
//
// The form in which an instance is reduced: nodes with a cost and any number of timed usages for
// each strategy, edges between two different nodes, at most one between the same two, and a
// capacity for each time that can matter. Hyperedges of an instance become auxiliary nodes, one
// strategy a combination; self-loops and edges of one node become node costs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_MODEL_H
#define WEFT_COMPILER_SEARCH_SOLVER_MODEL_H

#include "compiler/Search/Solver/Instance.h"
#include "compiler/Search/Solver/Trail.h"

#include <unordered_map>

namespace weft::solver {

/// The sum of two costs; forbidden if one is. Finite sums stay finite: see largestTotal.
inline int64_t addCosts(int64_t a, int64_t b) {
  return a >= forbidden || b >= forbidden ? forbidden : a + b;
}

/// What a node holds at times [begin, end), by strategy.
struct TimedUsage {
  int begin = 0, end = 0; ///< indices into Model::capacity
  std::vector<int64_t> amount;
};

class Model {
public:
  struct Node {
    std::vector<int64_t> cost;
    std::vector<TimedUsage> usages;
    std::vector<int> edges; ///< may name edges that are gone or have moved: see liveEdges
    bool alive = true;
    size_t size() const { return cost.size(); }
  };
  struct Edge {
    int first, second;
    std::vector<int64_t> table; ///< row-major, a row a strategy of `first`
    bool alive = true;
  };

  explicit Model(const Instance &instance);

  std::vector<Node> nodes; ///< those of the instance, then auxiliary ones
  std::vector<Edge> edges;
  std::vector<int64_t> capacity; ///< at each time
  int64_t constant = 0;          ///< cost of what has been decided
  Trail trail;
  bool infeasible = false;

  int other(int edge, int node) const { return edges[edge].first ^ edges[edge].second ^ node; }
  /// The edge between two nodes, or -1.
  int findEdge(int a, int b) const;
  /// Adds `table` (rows: a's strategies) to what the pair costs. Returns the edge.
  int addTable(int a, int b, std::vector<int64_t> table);
  void removeEdge(int edge);
  /// The edges of a node; forgets those that are gone.
  const std::vector<int> &liveEdges(int node);
  /// An edge's table with a row for each strategy of `rows`.
  std::vector<int64_t> orientedTable(int edge, int rows) const;
  /// Keeps only these strategies, numbers ascending, of a node, in its edges and usages too. None
  /// left: the problem is infeasible.
  void keepStrategies(int node, const std::vector<int> &kept);
  /// Turns a node's usages, which may overlap, into disjoint ones in order of time.
  void normalizeUsages(int node);

private:
  void addEdges(const Instance &instance);
  void addHyperedge(std::span<const int64_t> scope, std::span<const int64_t> costs);
  void addUsages(const Instance &instance);
  static uint64_t keyOf(int a, int b) {
    return (uint64_t(uint32_t(a < b ? a : b)) << 32) | uint32_t(a < b ? b : a);
  }
  std::unordered_map<uint64_t, int> edgeOf;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_MODEL_H
