//===- Traffic.h - how many bytes a collective moves ------------*- C++ -*-===//
//
// The one count that reshard paths, the choice of shardings and the cost of collectives go by. The
// whole buffer of a collective is what a rank has of the tensor before or after it, where that is
// more: the operand of all-reduce, reduce-scatter and all-to-all, the result of all-gather.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_TRAFFIC_H
#define WEFT_COMPILER_COST_TRAFFIC_H

#include <cstdint>

namespace weft {

enum class CollectiveKind { AllReduce, AllGather, ReduceScatter, AllToAll };

/// How often a ring hands each block round: an all-reduce to reduce it, then to give the result.
constexpr int64_t getRingPasses(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce ? 2 : 1;
}

/// Bytes that the ranks of a group send together, each its part of it, and receive, with
/// algorithms that move the least (Thakur et al. 2005): `bytes` is the whole buffer.
template <typename Number>
constexpr Number getGroupTraffic(CollectiveKind kind, Number ranks, Number bytes) {
  return static_cast<Number>(getRingPasses(kind)) * (ranks - 1) * bytes;
}

/// The same of one rank.
template <typename Number>
constexpr Number getRankTraffic(CollectiveKind kind, Number ranks, Number bytes) {
  return getGroupTraffic(kind, ranks, bytes) / ranks;
}

} // namespace weft

#endif // WEFT_COMPILER_COST_TRAFFIC_H
