#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cluster/Units.h"
#include "compiler/Plan/PlanSyntax.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace weft;

namespace {

/// Walks a description and keeps the first problem; places read like `group 'a', tier 'nvlink'`.
class Validator {
public:
  std::string run(const cluster::Cluster &cluster);

private:
  void complain(const std::string &place, const std::string &what) {
    if (problem.empty())
      problem = place + ": " + what;
  }
  void checkPositive(const std::string &place, const cluster::Quantity &quantity,
                     Dimension dimension, bool zeroToo = false);
  void checkOrder(const std::string &place, const cluster::Quantity &less,
                  const cluster::Quantity &more, Dimension dimension,
                  const char *words = "seen {} exceeds the stated {}");
  void checkDevice(const cluster::Device &device);
  void checkBuffers(const std::string &place,
                    const google::protobuf::RepeatedPtrField<cluster::BufferRate> &rates);
  void checkTier(const std::string &owner, const cluster::Tier &tier);
  void checkGroup(const cluster::Group &group, const std::vector<std::string> &devices);
  void checkLibrary(const cluster::Library &library);
  void checkSize(const cluster::Cluster &cluster);

  std::string problem;
};

void Validator::checkPositive(const std::string &place, const cluster::Quantity &quantity,
                              Dimension dimension, bool zeroToo) {
  double value = quantity.value();
  if (!getUnitFactor(quantity.unit(), dimension))
    complain(place, fmt::format("expected a unit of '{}', got: '{}'", getBaseUnit(dimension),
                                quantity.unit()));
  else if (!std::isfinite(value) || value < 0 || (value == 0 && !zeroToo))
    complain(place, fmt::format("expected a {} number, got: {}",
                                zeroToo ? "non-negative" : "positive", value));
  else if (quantity.provenance() == cluster::UNKNOWN)
    complain(place, "expected a provenance: SPEC, MEASURED or ASSUMED, with a source");
}

void Validator::checkOrder(const std::string &place, const cluster::Quantity &less,
                           const cluster::Quantity &more, Dimension dimension, const char *words) {
  if (inBaseUnits(less, dimension) > inBaseUnits(more, dimension))
    complain(place,
             fmt::format(fmt::runtime(words), fmt::format("{} {}", less.value(), less.unit()),
                         fmt::format("{} {}", more.value(), more.unit())));
}

void Validator::checkDevice(const cluster::Device &device) {
  std::string place = "device '" + device.name() + "'";
  if (device.peaks().empty())
    complain(place, "no peak of any element type");
  std::set<std::string> dtypes;
  for (const cluster::Peak &peak : device.peaks()) {
    std::string where = place + ", peak of '" + peak.dtype() + "'";
    if (!dtypes.insert(peak.dtype()).second)
      complain(where, "given twice");
    checkPositive(where + ", peak", peak.peak(), Dimension::FlopPerSecond);
    checkPositive(where + ", seen", peak.seen(), Dimension::FlopPerSecond);
    checkOrder(where, peak.seen(), peak.peak(), Dimension::FlopPerSecond);
    if (peak.has_sustained()) {
      checkPositive(where + ", sustained", peak.sustained(), Dimension::FlopPerSecond);
      checkOrder(where, peak.sustained(), peak.seen(), Dimension::FlopPerSecond,
                 "sustained {} exceeds the best seen {}");
    }
  }
  checkPositive(place + ", memory", device.memory(), Dimension::Bytes);
  checkPositive(place + ", bandwidth", device.bandwidth(), Dimension::BytesPerSecond);
  checkPositive(place + ", copy", device.copy(), Dimension::BytesPerSecond);
  checkOrder(place, device.copy(), device.bandwidth(), Dimension::BytesPerSecond);
  checkPositive(place + ", processors", device.processors(), Dimension::Number);
  checkPositive(place + ", tile", device.tile(), Dimension::Number);
  if (device.has_half_depth())
    checkPositive(place + ", half_depth", device.half_depth(), Dimension::Number, true);
  checkPositive(place + ", launch", device.launch(), Dimension::Seconds, /*zeroToo=*/true);
  if (device.has_cache())
    checkPositive(place + ", cache", device.cache(), Dimension::Bytes);
  if (device.has_depth_major())
    checkPositive(place + ", depth_major", device.depth_major(), Dimension::Number);
  if (device.has_batched())
    checkPositive(place + ", batched", device.batched(), Dimension::Number);
  for (const cluster::CopyRate &copy : device.copies()) {
    checkPositive(place + ", block of copies", copy.block(), Dimension::Bytes);
    checkPositive(place + ", rate of copies", copy.rate(), Dimension::BytesPerSecond);
  }
  if (device.has_arithmetic())
    checkPositive(place + ", arithmetic", device.arithmetic(), Dimension::FlopPerSecond);
  if (device.has_convolution())
    checkPositive(place + ", convolution", device.convolution(), Dimension::Number);
  if (device.has_pack())
    checkPositive(place + ", pack", device.pack(), Dimension::BytesPerSecond);
  if (device.has_wake())
    checkPositive(place + ", wake", device.wake(), Dimension::Seconds, /*zeroToo=*/true);
}

void Validator::checkBuffers(const std::string &place,
                             const google::protobuf::RepeatedPtrField<cluster::BufferRate> &rates) {
  for (const cluster::BufferRate &rate : rates) {
    checkPositive(place + ", buffer", rate.buffer(), Dimension::Bytes);
    checkPositive(place + ", seen of a buffer", rate.seen(), Dimension::BytesPerSecond);
  }
}

void Validator::checkTier(const std::string &owner, const cluster::Tier &tier) {
  std::string place = owner + ", tier '" + tier.name() + "'";
  if (tier.fanout() < 1)
    complain(place, fmt::format("expected a fan-out of at least 1, got: {}", tier.fanout()));
  checkPositive(place + ", links", tier.links(), Dimension::Number);
  checkPositive(place + ", rate", tier.rate(), Dimension::BytesPerSecond);
  checkPositive(place + ", seen", tier.seen(), Dimension::BytesPerSecond);
  checkOrder(place, tier.seen(), tier.rate(), Dimension::BytesPerSecond);
  for (const cluster::MemberRate &rate : tier.members())
    checkPositive(fmt::format("{}, {} members", place, rate.members()), rate.seen(),
                  Dimension::BytesPerSecond);
  checkBuffers(place, tier.buffers());
  if (tier.has_in_network()) {
    checkPositive(place + ", in_network rate", tier.in_network().rate(), Dimension::BytesPerSecond);
    checkPositive(place + ", in_network base", tier.in_network().base(), Dimension::Seconds, true);
  }
}

void Validator::checkGroup(const cluster::Group &group, const std::vector<std::string> &devices) {
  std::string place = "group '" + group.name() + "'";
  if (std::find(devices.begin(), devices.end(), group.device()) == devices.end())
    complain(place, "no device '" + group.device() + "'" + didYouMean(group.device(), devices));
  if (group.tiers().empty())
    complain(place, "no tiers");
  for (const cluster::Tier &tier : group.tiers())
    checkTier(place, tier);
  if (group.has_host()) {
    checkPositive(place + ", memory of a host", group.host().memory(), Dimension::Bytes);
    checkPositive(place + ", copy of a host", group.host().copy(), Dimension::BytesPerSecond);
  }
}

void Validator::checkLibrary(const cluster::Library &library) {
  std::string place = "library '" + library.name() + "'";
  checkPositive(place + ", call", library.call(), Dimension::Seconds, /*zeroToo=*/true);
  if (library.has_single_pass())
    checkPositive(place + ", single_pass", library.single_pass(), Dimension::Number);
  if (library.protocols().empty())
    complain(place, "no protocols");
  for (const cluster::Protocol &protocol : library.protocols()) {
    std::string where = place + ", protocol '" + protocol.name() + "'";
    checkPositive(where + ", share", protocol.share(), Dimension::Number);
    checkPositive(where + ", ring_base", protocol.ring_base(), Dimension::Seconds, true);
    checkPositive(where + ", tree_base", protocol.tree_base(), Dimension::Seconds, true);
    for (const cluster::Hop &hop : protocol.hops()) {
      checkPositive(where + ", ring hop", hop.ring(), Dimension::Seconds, /*zeroToo=*/true);
      checkPositive(where + ", tree hop", hop.tree(), Dimension::Seconds, /*zeroToo=*/true);
    }
  }
}

void Validator::checkSize(const cluster::Cluster &cluster) {
  double devices = 0;
  for (const cluster::Group &group : cluster.groups()) {
    double size = 1;
    for (const cluster::Tier &tier : group.tiers())
      size *= static_cast<double>(tier.fanout());
    devices += size;
  }
  if (devices > static_cast<double>(maxClusterDevices))
    complain("cluster '" + cluster.name() + "'",
             fmt::format("expected at most {} devices, got: {:.0f}", maxClusterDevices, devices));
}

std::string Validator::run(const cluster::Cluster &cluster) {
  std::string place = "cluster '" + cluster.name() + "'";
  if (cluster.version() != clusterVersion)
    complain(place, fmt::format("expected version {}, got: {}", clusterVersion, cluster.version()));
  std::vector<std::string> devices;
  for (const cluster::Device &device : cluster.devices()) {
    devices.push_back(device.name());
    checkDevice(device);
  }
  if (cluster.groups().empty())
    complain(place, "no groups");
  for (const cluster::Group &group : cluster.groups())
    checkGroup(group, devices);
  if (cluster.groups_size() > 1) {
    checkTier(place, cluster.joint());
    if (cluster.joint().fanout() != cluster.groups_size())
      complain(place, fmt::format("expected the joint's fan-out to be the number of groups, got: "
                                  "{} != {}",
                                  cluster.joint().fanout(), cluster.groups_size()));
  }
  checkLibrary(cluster.library());
  if (cluster.has_crowded()) {
    checkPositive("crowded, call", cluster.crowded().call(), Dimension::Seconds, /*zeroToo=*/true);
    checkPositive("crowded, step", cluster.crowded().step(), Dimension::Seconds, /*zeroToo=*/true);
    checkPositive("crowded, rate", cluster.crowded().rate(), Dimension::BytesPerSecond);
    checkBuffers("crowded", cluster.crowded().buffers());
  }
  checkSize(cluster);
  return problem;
}

} // namespace

std::string weft::validateCluster(const cluster::Cluster &cluster) {
  return Validator().run(cluster);
}
