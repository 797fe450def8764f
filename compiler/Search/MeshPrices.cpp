#include "compiler/Search/MeshPrices.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;
using Digits = std::vector<std::pair<int64_t, int64_t>>;

/// How far apart devices lie that are neighbours along an axis or a part of it.
static int64_t getStride(const MeshShape &mesh, AxisRef axis) {
  int64_t stride = mesh.axes[axis.axis].size / axis.end();
  for (const MeshAxis &minor : llvm::drop_begin(mesh.axes, axis.axis + 1))
    stride *= minor.size;
  return stride;
}

/// The devices of the group that holds device 0, in ascending order.
static std::vector<int64_t> listMembers(const Digits &digits) {
  std::vector<int64_t> members{0};
  for (auto [stride, size] : digits) {
    std::vector<int64_t> more;
    for (int64_t digit = 0; digit < size; ++digit)
      for (int64_t member : members)
        more.push_back(member + digit * stride);
    members = std::move(more);
  }
  llvm::sort(members);
  return members;
}

/// Over how many units of each tier the group spreads, and how many groups like it share a unit.
static GroupShape placeMembers(const GroupModel &group, std::vector<int64_t> units) {
  GroupShape shape;
  auto ranks = static_cast<int64_t>(units.size()), parts = ranks;
  int64_t devices = 1; ///< of a unit that the tier joins
  for (const TierModel &tier : group.tiers) {
    auto before = static_cast<int64_t>(units.size());
    for (int64_t &unit : units)
      unit /= tier.fanout;
    units.erase(std::unique(units.begin(), units.end()), units.end());
    // A group of which units hold unlike parts, three ranks on two nodes, spreads where it is
    // wider.
    auto joined = static_cast<int64_t>(units.size());
    shape.spread.push_back(parts % joined == 0 ? parts / joined : 1);
    parts /= shape.spread.back();
    shape.sharers.push_back(std::max<int64_t>(1, devices * before / ranks));
    devices *= tier.fanout;
  }
  return shape;
}

const GroupShape &MeshPrices::getGroup(ArrayRef<AxisRef> axes) {
  Digits digits;
  for (AxisRef axis : axes)
    digits.push_back({getStride(mesh, axis), axis.size});
  llvm::sort(digits);
  auto [entry, isNew] = groups.try_emplace(digits);
  if (isNew)
    entry->second = placeMembers(cluster.groups.front(), listMembers(digits));
  return entry->second;
}

static CollectiveKind toCollective(ReshardKind kind) {
  switch (kind) {
  case ReshardKind::AllGather:
    return CollectiveKind::AllGather;
  case ReshardKind::AllReduce:
    return CollectiveKind::AllReduce;
  case ReshardKind::ReduceScatter:
    return CollectiveKind::ReduceScatter;
  case ReshardKind::AllToAll:
  case ReshardKind::Permute:
  case ReshardKind::Slice:
    return CollectiveKind::AllToAll;
  }
  return CollectiveKind::AllToAll;
}

double MeshPrices::getMessageSeconds(double bytes) const {
  return getSendSeconds(cluster, cluster.groups.front(), mesh.devices(), mesh.devices(), bytes,
                        constants);
}

double MeshPrices::getCollectiveSeconds(ReshardKind kind, ArrayRef<AxisRef> axes, double bytes) {
  if (kind == ReshardKind::Slice) // a copy of what stays
    return bytes / getDevice().copy;
  const GroupModel &group = cluster.groups.front();
  const GroupShape &shape = getGroup(axes);
  if (kind != ReshardKind::Permute)
    return weft::getCollectiveSeconds(cluster, group, shape, toCollective(kind), bytes, constants);
  // All send at once; the farthest may be as far as the group is wide.
  int64_t stride = 0;
  for (AxisRef axis : axes)
    stride = std::max(stride, getStride(mesh, axis));
  return getSendSeconds(cluster, group, stride, *llvm::max_element(shape.sharers), bytes,
                        constants);
}

double MeshPrices::getStepSeconds(ReshardKind kind, ArrayRef<AxisRef> axes, double whole) {
  bool stays = kind == ReshardKind::Slice;
  return getCollectiveSeconds(kind, axes,
                              stays ? whole / static_cast<double>(blocks(axes)) : whole);
}

unsigned MeshPrices::addStep(ReshardKind kind, ArrayRef<AxisRef> axes) {
  auto known = llvm::find_if(
      steps, [&](const Step &step) { return step.kind == kind && ArrayRef(step.axes) == axes; });
  unsigned number = known - steps.begin();
  if (known == steps.end())
    steps.push_back({kind, {axes.begin(), axes.end()}});
  return number;
}

double MeshPrices::getStepSeconds(unsigned step, int64_t whole) {
  auto [entry, isNew] = stepSeconds.try_emplace({step, whole}, 0);
  if (isNew)
    entry->second = getStepSeconds(steps[step].kind, steps[step].axes, static_cast<double>(whole));
  return entry->second;
}

/// Elements of a block in which one dimension is of another extent.
static int64_t countElements(ArrayRef<int64_t> block, unsigned dim, int64_t extent) {
  int64_t elements = 1;
  for (auto [index, size] : llvm::enumerate(block))
    elements *= index == dim ? extent : size;
  return elements;
}

SmallVector<MeshPrices::PathStep, 3> MeshPrices::listSteps(const ReshardPath &path,
                                                           const TensorSharding &from,
                                                           ArrayRef<int64_t> shape) {
  SmallVector<PathStep, 3> listed;
  SmallVector<int64_t, 4> before = localShape(shape, from);
  for (const ReshardStep &step : path.steps) {
    SmallVector<int64_t, 4> after = localShape(shape, step.after);
    int64_t ranks = blocks(step.axes);
    bool joins = step.kind == ReshardKind::AllGather, reduces = step.kind == ReshardKind::AllReduce;
    bool moves = reduces || step.kind == ReshardKind::Permute;
    // Blocks behind the end of a dimension are there while it is cut and when it was joined.
    int64_t extent = moves   ? before.empty() ? 1 : before[step.dim]
                     : joins ? before[step.dim] * ranks
                             : after[step.dim] * ranks;
    bool isLonger = !moves && !joins && extent > before[step.dim];
    listed.push_back(
        {addStep(step.kind, step.axes), countElements(before, step.dim, extent), isLonger});
    before = std::move(after);
  }
  return listed;
}

double MeshPrices::getSeconds(const ReshardPath &path, const TensorSharding &from,
                              ArrayRef<int64_t> shape, int64_t elementBytes) {
  double seconds = 0;
  for (const PathStep &step : listSteps(path, from, shape))
    seconds += getStepSeconds(step, step.elements * elementBytes);
  return seconds;
}
