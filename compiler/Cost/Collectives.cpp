#include "compiler/Cost/Collectives.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

using namespace weft;

int64_t GroupShape::getNumRanks() const {
  int64_t ranks = 1;
  for (int64_t units : spread)
    ranks *= units;
  return ranks;
}

GroupShape weft::placeGroup(const GroupModel &cluster, int64_t stride, int64_t size) {
  GroupShape shape;
  int64_t unit = 1; ///< devices of a unit that the tier joins
  for (const TierModel &tier : cluster.tiers) {
    int64_t inUnit = std::clamp<int64_t>(unit / stride, 1, size); ///< ranks of the group in it
    int64_t inNext = std::clamp<int64_t>(unit * tier.fanout / stride, 1, size);
    shape.spread.push_back(std::max<int64_t>(1, inNext / inUnit));
    shape.sharers.push_back(std::max<int64_t>(1, unit / inUnit));
    unit *= tier.fanout;
  }
  return shape;
}

GroupShape weft::placeGroup(const GroupModel &cluster, std::span<const int64_t> devices) {
  GroupShape shape;
  int64_t unit = 1;
  auto countUnits = [&](int64_t size) {
    std::set<int64_t> units;
    for (int64_t device : devices)
      units.insert(device / size);
    return std::max<int64_t>(1, static_cast<int64_t>(units.size()));
  };
  auto number = static_cast<int64_t>(devices.size());
  for (const TierModel &tier : cluster.tiers) {
    int64_t units = countUnits(unit), next = countUnits(unit * tier.fanout);
    int64_t inUnit = std::max<int64_t>(1, number / units);
    shape.spread.push_back(std::max<int64_t>(1, units / next));
    shape.sharers.push_back(std::max<int64_t>(1, unit / inUnit));
    unit *= tier.fanout;
  }
  return shape;
}

namespace {

/// A group on its tiers, priced by any algorithm.
class Pricer {
public:
  Pricer(const ClusterModel &cluster, const GroupModel &group, const GroupShape &shape,
         double bytes, const CostConstants &constants)
      : cluster(cluster), group(group), shape(shape), bytes(bytes), constants(constants),
        ranks(static_cast<double>(shape.getNumRanks())) {}

  double getRing(const ProtocolModel &protocol, CollectiveKind kind) const;
  double getTree(const ProtocolModel &protocol) const;
  double getAllToAll(const ProtocolModel &protocol) const;
  double getInNetwork(CollectiveKind kind) const;

private:
  double getLinkRate(size_t tier) const;
  /// The step that reduces a rank's own chunk and starts to hand it on writes it twice; in memory
  /// that is part of the rate seen.
  double getFinish() const {
    if (group.tiers.front().medium == cluster::MEMORY)
      return 0;
    return 2 * bytes / ranks / (group.device.copy * constants.finishShare);
  }
  double getSlowestSeconds(double traffic, double share) const;
  static ProtocolModel::Hop getHop(const ProtocolModel &protocol, cluster::Medium medium) {
    auto found = protocol.hops.find(medium);
    return found == protocol.hops.end() ? ProtocolModel::Hop() : found->second;
  }

  const ClusterModel &cluster;
  const GroupModel &group;
  const GroupShape &shape;
  double bytes;
  const CostConstants &constants;
  double ranks;
};

/// B/s between the group's units of a tier: its part of a unit's links.
double Pricer::getLinkRate(size_t tier) const {
  const TierModel &model = group.tiers[tier];
  int64_t unit = 1, ranksInUnit = 1;
  for (size_t inner = 0; inner < tier; ++inner) {
    unit *= group.tiers[inner].fanout;
    ranksInUnit *= shape.spread[inner];
  }
  double own =
      static_cast<double>(ranksInUnit) * std::max(1.0, model.links / static_cast<double>(unit));
  double links = std::min(model.links / static_cast<double>(shape.sharers[tier]), own);
  return links * model.getSeen(shape.spread[tier], bytes);
}

/// Where each rank moves `traffic` bytes along a ring through all tiers.
double Pricer::getSlowestSeconds(double traffic, double share) const {
  double slowest = 0;
  for (size_t tier = 0; tier < group.tiers.size(); ++tier)
    if (shape.spread[tier] > 1)
      slowest = std::max(slowest, traffic / (getLinkRate(tier) * share));
  return slowest;
}

double Pricer::getRing(const ProtocolModel &protocol, CollectiveKind kind) const {
  auto passes = static_cast<double>(getRingPasses(kind));
  double latency = protocol.ringBase, crossings = 1;
  for (size_t i = group.tiers.size(); i-- > 0;) {
    double next = crossings * static_cast<double>(shape.spread[i]);
    latency += passes * (next - crossings) * getHop(protocol, group.tiers[i].medium).ring;
    crossings = next;
  }
  double share = protocol.share * (passes > 1 ? 1 : cluster.singlePass);
  double seconds =
      cluster.call + latency + getSlowestSeconds(getRankTraffic(kind, ranks, bytes), share);
  return passes > 1 ? seconds + getFinish() : seconds;
}

double Pricer::getTree(const ProtocolModel &protocol) const {
  double latency = protocol.treeBase;
  for (size_t i = 0; i < group.tiers.size(); ++i) {
    auto units = static_cast<double>(shape.spread[i]);
    double steps =
        i == 0 ? units - 1 : std::ceil(std::log2(units)); // a chain inside, trees between
    latency += 2 * steps * getHop(protocol, group.tiers[i].medium).tree;
  }
  return cluster.call + latency + getFinish() +
         getSlowestSeconds(getRankTraffic(CollectiveKind::AllReduce, ranks, bytes),
                           protocol.share * constants.treeShare);
}

double Pricer::getAllToAll(const ProtocolModel &protocol) const {
  double latency = protocol.ringBase, slowest = 0, inside = 1;
  for (size_t i = 0; i < group.tiers.size(); ++i) {
    if (shape.spread[i] > 1) {
      double inNext = inside * static_cast<double>(shape.spread[i]);
      latency += (inNext - inside) * getHop(protocol, group.tiers[i].medium).ring;
      // Each of the unit's ranks sends its part to every rank outside of the unit.
      double leaving = inside * bytes * (ranks - inside) / ranks / ranks * ranks;
      slowest = std::max(slowest, leaving / (getLinkRate(i) * protocol.share));
      inside = inNext;
    }
  }
  return cluster.call + latency + slowest;
}

/// By the switches of the innermost tier that the group spreads over; infinite where they cannot.
/// Sums that a group of more of their domains shares go on between these by trees; to gather or
/// scatter, libraries use switches in one domain only.
double Pricer::getInNetwork(CollectiveKind kind) const {
  const double infinite = std::numeric_limits<double>::infinity();
  const ProtocolModel &protocol = cluster.protocols.back();
  bool reduces = kind == CollectiveKind::AllReduce;
  double switched = 0, base = 0, rest = 0;
  for (size_t i = 0; i < group.tiers.size(); ++i) {
    if (shape.spread[i] <= 1)
      continue;
    const TierModel &tier = group.tiers[i];
    if (switched == 0) {
      if (!tier.inNetwork || shape.sharers[i] != 1)
        return infinite;
      switched = (reduces ? 1 : 0.5) * bytes / tier.inNetwork->rate;
      base = tier.inNetwork->base;
      continue;
    }
    if (!reduces)
      return infinite;
    auto units = static_cast<double>(shape.spread[i]);
    rest = std::max(rest, getRankTraffic(kind, units, bytes) /
                              (getLinkRate(i) * protocol.share * constants.treeShare));
    base += 2 * std::ceil(std::log2(units)) * getHop(protocol, tier.medium).tree;
  }
  return switched > 0 ? cluster.call + base + std::max(switched, rest) : infinite;
}

} // namespace

double weft::getCollectiveSeconds(const ClusterModel &cluster, const GroupModel &group,
                                  const GroupShape &shape, CollectiveKind kind, double bytes,
                                  const CostConstants &constants) {
  if (shape.getNumRanks() <= 1 || bytes <= 0)
    return 0;
  Pricer pricer(cluster, group, shape, bytes, constants);
  double best = std::numeric_limits<double>::infinity();
  for (const ProtocolModel &protocol : cluster.protocols)
    switch (kind) {
    case CollectiveKind::AllReduce:
      best = std::min({best, pricer.getRing(protocol, kind), pricer.getTree(protocol),
                       pricer.getInNetwork(kind)});
      break;
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
      best = std::min({best, pricer.getRing(protocol, kind), pricer.getInNetwork(kind)});
      break;
    case CollectiveKind::AllToAll:
      best = std::min(best, pricer.getAllToAll(protocol));
      break;
    }
  return best;
}

double weft::getSendSeconds(const ClusterModel &cluster, const GroupModel &group, int64_t stride,
                            int64_t sharers, double bytes, const CostConstants &constants) {
  int64_t unit = 1;
  for (size_t i = 0; i < group.tiers.size(); unit *= group.tiers[i].fanout, ++i) {
    const TierModel &tier = group.tiers[i];
    if (stride >= unit * tier.fanout && i + 1 < group.tiers.size())
      continue;
    double links = std::min(std::max(1.0, tier.links / static_cast<double>(unit)),
                            tier.links / static_cast<double>(std::min(sharers, unit)));
    double best = std::numeric_limits<double>::infinity();
    double rate = tier.buffers.empty() ? tier.seen : tier.getSeen(2, 2 * bytes);
    for (const ProtocolModel &protocol : cluster.protocols) {
      auto hop = protocol.hops.find(tier.medium);
      double step = hop == protocol.hops.end() ? 0 : hop->second.ring;
      best = std::min(best, protocol.ringBase + step + bytes / (links * rate * protocol.share));
    }
    return cluster.call + best;
  }
  return 0;
}
