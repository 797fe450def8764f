//===- CommunicationPrices.h - what a program's messages take ---*- C++ -*-===//

#ifndef WEFT_DRIVER_COMMUNICATIONPRICES_H
#define WEFT_DRIVER_COMMUNICATIONPRICES_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Constants.h"
#include "runtime/Program/Position.h"
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace weft {

/// What a transfer takes that has its links for itself, and which they are.
struct TransferPrice {
  double seconds = 0;     ///< of latency
  double linkSeconds = 0; ///< on the links
  std::string tier;       ///< the outermost that it crosses; empty: none
  bool inMemory = false;  ///< it is done by the ranks' own cores
};

/// Prices communication of ranks that stand on a cluster in the order of its devices.
class CommunicationPrices {
public:
  /// `cluster` is as the ranks share it (shareHost), and outlives this.
  CommunicationPrices(const ClusterModel &cluster, const CostConstants &constants)
      : cluster(cluster), constants(constants) {}

  /// Of a collective in the group of the rank at `position`, and all groups like it.
  TransferPrice getCollective(const program::Collective &collective,
                              const runtime::Position &position) const;
  /// Of `bytes` from a rank to another, each of so many ranks sending so.
  TransferPrice getMessage(int64_t from, int64_t to, int64_t senders, double bytes) const;

private:
  /// A group of the cluster that holds devices, and how they lie in it.
  struct Place {
    GroupModel group;
    GroupShape shape;
  };
  /// The ranks of one collective.
  struct Group {
    int64_t first = 0, last = 0, size = 0;
    const Place *place = nullptr;
  };
  GroupModel findCommon(std::span<const int64_t> devices, int64_t &first) const;
  const Place &findPlace(const std::vector<int64_t> &devices) const;
  const Group &findGroup(const program::Collective &collective,
                         const runtime::Position &position) const;

  const ClusterModel &cluster;
  const CostConstants &constants;
  mutable std::map<std::vector<int64_t>, Place> places; ///< by devices: few groups serve many
  /// By a rank of theirs, mesh and axes: thousands of collectives go over few of thousands of
  /// ranks.
  mutable std::map<std::tuple<int64_t, std::string, std::string>, Group> groups;
};

} // namespace weft

#endif // WEFT_DRIVER_COMMUNICATIONPRICES_H
