//===- CommunicationPrices.cpp - what a program's messages take -----------===//

#include "driver/CommunicationPrices.h"

#include "compiler/Cost/Collectives.h"
#include "runtime/Program/Collectives.h"
#include "runtime/Support/DType.h"

#include <algorithm>

using namespace weft;

static double getBytes(const program::Operand &operand) {
  auto bytes = static_cast<double>(runtime::getElementSize(operand.dtype()));
  for (int64_t extent : operand.shape())
    bytes *= static_cast<double>(extent);
  return bytes;
}

static CollectiveKind getKind(program::CollectiveKind kind) {
  switch (kind) {
  case program::ALL_GATHER:
    return CollectiveKind::AllGather;
  case program::REDUCE_SCATTER:
    return CollectiveKind::ReduceScatter;
  case program::ALL_TO_ALL:
    return CollectiveKind::AllToAll;
  default:
    return CollectiveKind::AllReduce;
  }
}

/// The group that holds the devices; the first one with the network between groups as a further
/// tier where they are of several. `first` is the number of its first device.
GroupModel CommunicationPrices::findCommon(std::span<const int64_t> devices, int64_t &first) const {
  auto [least, most] = std::minmax_element(devices.begin(), devices.end());
  first = 0;
  for (const GroupModel &group : cluster.groups) {
    int64_t number = group.getNumDevices();
    if (*least >= first && *most < first + number)
      return group;
    first += number;
  }
  first = 0;
  GroupModel joined = cluster.groups.front();
  joined.tiers.push_back(*cluster.joint);
  return joined;
}

const CommunicationPrices::Place &
CommunicationPrices::findPlace(const std::vector<int64_t> &devices) const {
  auto [entry, isNew] = places.try_emplace(devices);
  if (!isNew)
    return entry->second;
  int64_t first = 0;
  Place &place = entry->second;
  place.group = findCommon(devices, first);
  std::vector<int64_t> own = devices;
  for (int64_t &device : own)
    device -= first;
  place.shape = placeGroup(place.group, own);
  return place;
}

/// The outermost tier over which the devices spread.
static void noteTier(const GroupModel &group, const std::vector<int64_t> &spread,
                     TransferPrice &price) {
  for (size_t tier = 0; tier < spread.size(); ++tier)
    if (spread[tier] > 1) {
      price.tier = group.name + " " + group.tiers[tier].name;
      price.inMemory = group.tiers[tier].medium == cluster::MEMORY;
    }
}

/// Splits what a transfer of many bytes takes into what one of a single byte takes, and the rest.
static void setSeconds(double whole, double ofOneByte, TransferPrice &price) {
  price.seconds = std::min(whole, ofOneByte);
  price.linkSeconds = whole - price.seconds;
}

const CommunicationPrices::Group &
CommunicationPrices::findGroup(const program::Collective &collective,
                               const runtime::Position &position) const {
  auto [entry, isNew] =
      groups.try_emplace({position.getRank(), collective.mesh(), runtime::getAxesName(collective)});
  if (isNew) {
    std::vector<int64_t> devices = position.getGroup(collective.axes(), collective.mesh());
    entry->second = {devices.front(), devices.back(), static_cast<int64_t>(devices.size()),
                     &findPlace(devices)};
  }
  return entry->second;
}

TransferPrice CommunicationPrices::getCollective(const program::Collective &collective,
                                                 const runtime::Position &position) const {
  const Group &members = findGroup(collective, position);
  double bytes = std::max(getBytes(collective.input()), getBytes(collective.output()));
  if (collective.kind() == program::PERMUTE && members.size > 1)
    return getMessage(members.first, members.last, members.size, bytes);
  TransferPrice price;
  const auto &[group, shape] = *members.place;
  auto getSeconds = [&](double size) {
    return getCollectiveSeconds(cluster, group, shape, getKind(collective.kind()), size, constants);
  };
  setSeconds(getSeconds(bytes), getSeconds(1), price);
  noteTier(group, shape.spread, price);
  return price;
}

TransferPrice CommunicationPrices::getMessage(int64_t from, int64_t to, int64_t senders,
                                              double bytes) const {
  TransferPrice price;
  if (from == to)
    return price;
  std::vector<int64_t> devices = {from, to};
  const auto &[group, shape] = findPlace(devices);
  // A message goes over the outermost tier that lies between its ends.
  int64_t stride = 1, unit = 1;
  for (size_t tier = 0; tier < shape.spread.size(); unit *= group.tiers[tier++].fanout)
    if (shape.spread[tier] > 1)
      stride = unit;
  auto getSeconds = [&](double size) {
    return getSendSeconds(cluster, group, stride, senders, size, constants);
  };
  setSeconds(getSeconds(bytes), getSeconds(1), price);
  noteTier(group, shape.spread, price);
  return price;
}
