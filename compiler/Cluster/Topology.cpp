#include "compiler/Cluster/Topology.h"

#include "compiler/Cluster/Units.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace weft;

/// From narrow to wide; a type that a device has no products for is computed as a later one.
static constexpr std::array<const char *, 7> dtypesByWidth = {"f4",   "f8",  "f16", "bf16",
                                                              "tf32", "f32", "f64"};

DeviceModel::Rate DeviceModel::getRate(const std::string &dtype) const {
  const auto *asked = std::find(dtypesByWidth.begin(), dtypesByWidth.end(), dtype);
  if (auto found = rates.find(dtype); found != rates.end())
    return found->second;
  if (dtype == "bf16" && rates.contains("f16"))
    return rates.at("f16");
  for (const auto *wider = asked; wider != dtypesByWidth.end(); ++wider)
    if (auto found = rates.find(*wider); found != rates.end())
      return found->second;
  for (auto narrower = dtypesByWidth.rbegin(); narrower != dtypesByWidth.rend(); ++narrower)
    if (auto found = rates.find(*narrower); found != rates.end())
      return found->second;
  return rates.begin()->second;
}

/// B/s of a buffer between two that are known: on the line between them over the logarithm of size.
static double interpolate(const std::map<double, double> &rates, double bytes, double above) {
  auto next = rates.lower_bound(bytes);
  if (next == rates.end())
    return above;
  if (next == rates.begin())
    return next->second;
  auto last = std::prev(next);
  double share = std::log(bytes / last->first) / std::log(next->first / last->first);
  return last->second + share * (next->second - last->second);
}

double TierModel::getSeen(int64_t numMembers, double bufferBytes) const {
  if (auto found = members.lower_bound(numMembers); found != members.end())
    return found->second;
  return interpolate(buffers, bufferBytes, seen);
}

int64_t GroupModel::getNumDevices() const {
  int64_t size = 1;
  for (const TierModel &tier : tiers)
    size *= tier.fanout;
  return size;
}

int64_t GroupModel::getDevicesOfHost() const {
  int64_t size = 1;
  for (const TierModel &tier : tiers)
    size *= tier.medium == cluster::NETWORK ? 1 : tier.fanout;
  return size;
}

int64_t ClusterModel::getNumDevices() const {
  int64_t size = 0;
  for (const GroupModel &group : groups)
    size += group.getNumDevices();
  return size;
}

static DeviceModel makeDevice(const cluster::Device &device) {
  DeviceModel model;
  model.name = device.name();
  for (const cluster::Peak &peak : device.peaks()) {
    const cluster::Quantity &sustained = peak.has_sustained() ? peak.sustained() : peak.seen();
    model.rates[peak.dtype()] = {inBaseUnits(peak.peak(), Dimension::FlopPerSecond),
                                 inBaseUnits(peak.seen(), Dimension::FlopPerSecond),
                                 inBaseUnits(sustained, Dimension::FlopPerSecond)};
  }
  model.memory = inBaseUnits(device.memory(), Dimension::Bytes);
  model.bandwidth = inBaseUnits(device.bandwidth(), Dimension::BytesPerSecond);
  model.copy = inBaseUnits(device.copy(), Dimension::BytesPerSecond);
  model.processors = inBaseUnits(device.processors(), Dimension::Number);
  model.tile = inBaseUnits(device.tile(), Dimension::Number);
  if (device.has_half_depth())
    model.halfDepth = inBaseUnits(device.half_depth(), Dimension::Number);
  model.launch = inBaseUnits(device.launch(), Dimension::Seconds);
  if (device.has_cache())
    model.cache = inBaseUnits(device.cache(), Dimension::Bytes);
  if (device.has_depth_major())
    model.depthMajor = inBaseUnits(device.depth_major(), Dimension::Number);
  if (device.has_batched())
    model.batched = inBaseUnits(device.batched(), Dimension::Number);
  for (const cluster::CopyRate &copy : device.copies())
    model.copies[inBaseUnits(copy.block(), Dimension::Bytes)] =
        inBaseUnits(copy.rate(), Dimension::BytesPerSecond);
  if (device.has_arithmetic())
    model.arithmetic = inBaseUnits(device.arithmetic(), Dimension::FlopPerSecond);
  if (device.has_convolution())
    model.convolution = inBaseUnits(device.convolution(), Dimension::Number);
  if (device.has_pack())
    model.pack = inBaseUnits(device.pack(), Dimension::BytesPerSecond);
  if (device.has_wake())
    model.wake = inBaseUnits(device.wake(), Dimension::Seconds);
  return model;
}

static std::map<double, double>
makeBuffers(const google::protobuf::RepeatedPtrField<cluster::BufferRate> &rates) {
  std::map<double, double> buffers;
  for (const cluster::BufferRate &rate : rates)
    buffers[inBaseUnits(rate.buffer(), Dimension::Bytes)] =
        inBaseUnits(rate.seen(), Dimension::BytesPerSecond);
  return buffers;
}

static TierModel makeTier(const cluster::Tier &tier) {
  TierModel model;
  model.name = tier.name();
  model.medium = tier.medium();
  model.fanout = tier.fanout();
  model.links = inBaseUnits(tier.links(), Dimension::Number);
  model.rate = inBaseUnits(tier.rate(), Dimension::BytesPerSecond);
  model.seen = inBaseUnits(tier.seen(), Dimension::BytesPerSecond);
  for (const cluster::MemberRate &rate : tier.members())
    model.members[rate.members()] = inBaseUnits(rate.seen(), Dimension::BytesPerSecond);
  model.buffers = makeBuffers(tier.buffers());
  if (tier.has_in_network())
    model.inNetwork = {inBaseUnits(tier.in_network().rate(), Dimension::BytesPerSecond),
                       inBaseUnits(tier.in_network().base(), Dimension::Seconds)};
  return model;
}

static ProtocolModel makeProtocol(const cluster::Protocol &protocol) {
  ProtocolModel model;
  model.name = protocol.name();
  model.share = inBaseUnits(protocol.share(), Dimension::Number);
  model.ringBase = inBaseUnits(protocol.ring_base(), Dimension::Seconds);
  model.treeBase = inBaseUnits(protocol.tree_base(), Dimension::Seconds);
  for (const cluster::Hop &hop : protocol.hops())
    model.hops[hop.medium()] = {inBaseUnits(hop.ring(), Dimension::Seconds),
                                inBaseUnits(hop.tree(), Dimension::Seconds)};
  return model;
}

ClusterModel weft::makeClusterModel(const cluster::Cluster &cluster) {
  ClusterModel model;
  model.name = cluster.name();
  for (const cluster::Group &group : cluster.groups()) {
    GroupModel &made = model.groups.emplace_back();
    made.name = group.name();
    for (const cluster::Device &device : cluster.devices())
      if (device.name() == group.device())
        made.device = makeDevice(device);
    for (const cluster::Tier &tier : group.tiers())
      made.tiers.push_back(makeTier(tier));
    if (group.has_host()) {
      made.hostMemory = inBaseUnits(group.host().memory(), Dimension::Bytes);
      made.device.hostCopy = inBaseUnits(group.host().copy(), Dimension::BytesPerSecond);
    }
  }
  if (model.groups.size() > 1)
    model.joint = makeTier(cluster.joint());
  model.call = inBaseUnits(cluster.library().call(), Dimension::Seconds);
  if (cluster.library().has_single_pass())
    model.singlePass = inBaseUnits(cluster.library().single_pass(), Dimension::Number);
  for (const cluster::Protocol &protocol : cluster.library().protocols())
    model.protocols.push_back(makeProtocol(protocol));
  if (cluster.has_crowded())
    model.crowded = {inBaseUnits(cluster.crowded().call(), Dimension::Seconds),
                     inBaseUnits(cluster.crowded().step(), Dimension::Seconds),
                     inBaseUnits(cluster.crowded().rate(), Dimension::BytesPerSecond),
                     makeBuffers(cluster.crowded().buffers())};
  return model;
}
