//===- Core.h - what is left of a problem after reduction -------*- C++ -*-===//
//
// The reduced problem in flat arrays, for the searches: nodes in the instance's order, each
// strategy's numbers side by side, edges with the smaller node first.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_CORE_H
#define WEFT_COMPILER_SEARCH_SOLVER_CORE_H

#include "compiler/Search/Solver/Model.h"

namespace weft::solver {

struct Core {
  struct Edge {
    int first, second; ///< first < second
    size_t table;      ///< into `tables`, row-major over first × second
  };
  struct Neighbour {
    int node, edge;
  };
  struct Usage {
    int begin, end; ///< times
    size_t amount;  ///< into `amounts`, one a strategy
  };

  explicit Core(Model &model);

  int numNodes() const { return int(size.size()); }
  std::span<const Neighbour> neighbours(int node) const {
    return std::span(neighbourLists)
        .subspan(neighbourBegin[node], neighbourBegin[node + 1] - neighbourBegin[node]);
  }
  std::span<const Usage> usages(int node) const {
    return std::span(usageLists).subspan(usageBegin[node], usageBegin[node + 1] - usageBegin[node]);
  }
  /// What strategies s of `node` and t of its neighbour over `edge` cost together.
  int64_t pairCost(int edge, int node, int s, int t) const {
    const Edge &e = edges[edge];
    return e.first == node ? tables[e.table + size_t(s) * size[e.second] + t]
                           : tables[e.table + size_t(t) * size[node] + s];
  }

  std::vector<int> modelNode;   ///< of each node
  std::vector<int> size;        ///< strategies of each node
  std::vector<size_t> strategy; ///< where each node's strategies begin in `cost`
  std::vector<int64_t> cost;
  std::vector<Edge> edges;
  std::vector<int64_t> tables, amounts;
  std::vector<int64_t> capacity;
  int64_t constant = 0; ///< cost of what the reductions have decided
  /// A finite stand-in for `forbidden`: more than any answer costs beyond another.
  int64_t penalty = 1;

private:
  std::vector<Neighbour> neighbourLists;
  std::vector<Usage> usageLists;
  std::vector<size_t> neighbourBegin, usageBegin;
  void addNodes(Model &model, std::vector<int> &index);
  void addEdges(Model &model, const std::vector<int> &index);
};

/// The tables of a core, in both orientations, in floating point with `penalty` for forbidden
/// pairs.
template <typename Real> class DirectedTables {
public:
  /// Rows are `padding` entries aligned; pads hold the penalty.
  DirectedTables(const Core &core, int padding);

  /// The row of strategy t of the other end, over the strategies of `node`.
  const Real *row(int edge, int node, int t) const {
    const Core::Edge &e = core.edges[edge];
    bool toSecond = e.second == node;
    return &values[(toSecond ? forward : backward)[edge] + size_t(t) * padded(node)];
  }
  int padded(int node) const { return (core.size[node] + padding - 1) / padding * padding; }

private:
  const Core &core;
  int padding;
  std::vector<size_t> forward, backward; ///< of each edge: rows of its first, of its second node
  std::vector<Real> values;
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_CORE_H
