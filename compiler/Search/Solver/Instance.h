//===- Instance.h - a strategy-graph problem --------------------*- C++ -*-===//
//
// Every node takes one of its strategies. A choice costs what its nodes and edges say; it is
// allowed if at every time the usages of the nodes that are alive fit the limit. This is the
// problem that XLA's auto-sharding solves, in the form of the ASPLOS/EuroSys 2025 contest (IOPDDL).
//
// Worked example: two nodes alive at once, limit 6.
//
//   node 0: costs [1, 5], usages [4, 2]      edge (0, 1): [0 9]   row: strategy of node 0
//   node 1: costs [2, 3], usages [3, 4]                   [9 0]
//
// [0, 0] costs 1 + 2 + 0 = 3 but uses 4 + 3 = 7; [1, 1] costs 5 + 3 + 0 = 8 and uses 2 + 4 = 6: it
// is the answer, since [1, 0] costs 5 + 2 + 9 = 16 and [0, 1] uses 8.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_INSTANCE_H
#define WEFT_COMPILER_SEARCH_SOLVER_INSTANCE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::solver {

/// Costs of this size and above mark strategies and pairs that must not be chosen.
inline constexpr int64_t forbidden = 1'000'000'000'000'000'000;
/// Finite costs must sum to less than this, so that sums never overflow nor look forbidden.
inline constexpr int64_t largestTotal = int64_t(1) << 59;

/// A sum of costs or usages that cannot overflow.
using Wide = __int128;
std::string toString(Wide value);

/// Lists of different lengths, one behind another.
template <typename T> struct Ragged {
  std::vector<size_t> ends;
  std::vector<T> values;

  size_t size() const { return ends.size(); }
  void close() { ends.push_back(values.size()); }
  std::span<const T> operator[](size_t i) const {
    size_t begin = i ? ends[i - 1] : 0;
    return std::span<const T>(values).subspan(begin, ends[i] - begin);
  }
};

struct Interval {
  int64_t begin = 0, end = 0; ///< alive at begin ≤ t < end; empty where begin ≥ end
};

struct Instance {
  std::string name;
  std::vector<Interval> intervals;   ///< of each node
  Ragged<int64_t> costs, usages;     ///< of each node, by strategy
  Ragged<int64_t> edges;             ///< the nodes of each edge
  Ragged<int64_t> edgeCosts;         ///< of each edge, row-major over the strategies of its nodes
  std::optional<int64_t> usageLimit; ///< none: whatever is used fits

  size_t numNodes() const { return costs.size(); }
};

/// What is wrong with an instance, in words for its author.
struct InstanceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a JSON instance, gzipped or not, in one pass with a small buffer. The result is validated.
/// Throws InstanceError.
Instance readInstance(const std::string &path);
Instance parseInstance(std::string_view text);

/// Checks what parsing alone does not: lengths that must agree, node numbers, negative usages, and
/// costs whose sum would overflow. Throws InstanceError.
void validate(const Instance &instance);

/// What an answer costs, on the instance's own tables.
struct Evaluation {
  Wide cost = 0;
  bool allowed = true; ///< nothing forbidden is chosen
  Wide excess = 0;     ///< the largest usage above the limit at any time
  bool feasible() const { return allowed && excess <= 0; }
};
/// `answer` holds one strategy number a node, each in range.
Evaluation evaluate(const Instance &instance, std::span<const int> answer);

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_INSTANCE_H
