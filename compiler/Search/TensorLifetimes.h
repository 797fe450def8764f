//===- TensorLifetimes.h - when tensors are there ---------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_TENSORLIFETIMES_H
#define WEFT_COMPILER_SEARCH_TENSORLIFETIMES_H

#include "compiler/Search/StrategyGraph.h"

namespace weft {

/// From when to when each tensor of a program is there. At a moment one node is computed: they are
/// in order, but for those that wait for nothing but what they read, which come right behind it.
/// Inputs, and what is loaded, are there from the beginning; what has no memory of its own is
/// never.
class TensorLifetimes {
public:
  explicit TensorLifetimes(const ShardingProblem &problem);

  size_t getMoment(unsigned node) const { return moments[node]; }
  bool isLive(unsigned tensor, size_t moment) const {
    return !isPlaceless(tensor) && begins[tensor] <= moment && moment <= ends[tensor];
  }
  /// Bytes of all tensors, whole, by moment.
  std::vector<double> getLiveBytes() const;
  /// The first moment at which most is there.
  size_t findPeak() const;

private:
  bool isPlaceless(unsigned tensor) const {
    return !problem.isPlaceless.empty() && problem.isPlaceless[tensor];
  }
  bool isMade(unsigned tensor) const;
  bool isScalar(unsigned node) const;
  void findMoments();

  const ShardingProblem &problem;
  const ShardingGraph &graph;
  std::vector<size_t> moments;      ///< by node
  std::vector<size_t> begins, ends; ///< by tensor
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_TENSORLIFETIMES_H
