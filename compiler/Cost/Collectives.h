//===- Collectives.h - what a collective takes ------------------*- C++ -*-===//
//
// Seconds of one collective over a group of devices, by the algorithms and protocols among which
// the library chooses: the least over them, as the library measures or tabulates its own. S is the
// whole buffer (Traffic.h), n the ranks of the group:
//
//   ring all-reduce        call + base + 2(n-1) steps + 2(n-1)/n·S/B + 2/n·S/F
//   ring all-gather, …     call + base +  (n-1) steps +  (n-1)/n·S/B
//   tree all-reduce        call + base + 2·depth steps + 2(n-1)/n·S/(B·tree share) + 2/n·S/F
//   in the switch          call + base + S/rate        (an all-gather or reduce-scatter half of it)
//   all-to-all             call + base + steps + what leaves each unit / what its links carry
//   point to point         call + base + step + S/B
//
// F is the last pass of a ring over its own chunk. Over several tiers the chunks of a ring pass all
// of them at once, so that the slowest tier decides. B of a tier is what the group has of a unit's
// links: groups that communicate at the same time share them, and a device drives no more than its
// part. Bases and steps are the library's (cluster description); the form is Thakur et al.
// (2005) with the protocols of NCCL.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_COST_COLLECTIVES_H
#define WEFT_COMPILER_COST_COLLECTIVES_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Constants.h"
#include "compiler/Cost/Traffic.h"
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Where the ranks of a group lie.
struct GroupShape {
  /// At each tier, innermost first, over how many of its units the group spreads.
  std::vector<int64_t> spread;
  /// At each tier, how many groups like this one use the links of a unit at the same time.
  std::vector<int64_t> sharers;

  int64_t getNumRanks() const;
};

/// The group of `size` devices `stride` apart, all such groups communicating at the same time: of
/// 8-device nodes, stride 8 and size 4 gives spread {1, 4} and sharers {1, 8}.
GroupShape placeGroup(const GroupModel &cluster, int64_t stride, int64_t size);

/// The group of these devices of `cluster`, all groups that its shape cuts a unit into
/// communicating at the same time; as the other, for groups whose devices do not lie evenly.
GroupShape placeGroup(const GroupModel &cluster, std::span<const int64_t> devices);

/// Seconds of a collective over `bytes` of whole buffer. `cluster` must hold `group`.
double getCollectiveSeconds(const ClusterModel &cluster, const GroupModel &group,
                            const GroupShape &shape, CollectiveKind kind, double bytes,
                            const CostConstants &constants);

/// Seconds of one message of `bytes` to the device `stride` further, `sharers` of a node sending
/// at the same time.
double getSendSeconds(const ClusterModel &cluster, const GroupModel &group, int64_t stride,
                      int64_t sharers, double bytes, const CostConstants &constants);

} // namespace weft

#endif // WEFT_COMPILER_COST_COLLECTIVES_H
