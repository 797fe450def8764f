//===- PricedCollectives.cpp - what each collective takes -----------------===//

#include "driver/PricedCollectives.h"

#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Instruction.h"
#include "driver/CommunicationPrices.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"

#include <map>

using namespace weft;

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

namespace {
/// Seconds of one execution of each kind of collective that there is.
class Prices {
public:
  Prices(const program::Executable &executable, const ClusterModel &cluster)
      : executable(executable), prices(cluster, constants) {
    for (const program::RankRange &range : executable.ranks())
      add(range);
  }

  double of(runtime::CollectiveRecord record) const {
    record.count = 0;
    auto found = seconds.find(runtime::toText(record));
    return found == seconds.end() ? 0 : found->second;
  }

private:
  void add(const program::RankRange &range);
  double getSeconds(const program::Instruction &instruction, const runtime::Position &position,
                    const program::RankRange &range) const;

  const program::Executable &executable;
  CostConstants constants;
  CommunicationPrices prices;
  std::map<std::string, double> seconds; ///< by record, as text
};
} // namespace

double Prices::getSeconds(const program::Instruction &instruction,
                          const runtime::Position &position,
                          const program::RankRange &range) const {
  TransferPrice price;
  if (instruction.has_send()) {
    const program::Send &send = instruction.send();
    auto bytes = static_cast<double>(runtime::getElementSize(send.input().dtype()));
    for (int64_t extent : send.input().shape())
      bytes *= static_cast<double>(extent);
    int64_t peer = runtime::getRankAt(runtime::findMesh(executable, send.mesh()),
                                      position.evaluate(send.peer()));
    price = prices.getMessage(range.begin(), peer, range.end() - range.begin(), bytes);
  } else {
    price = prices.getCollective(instruction.collective(), position);
  }
  return price.seconds + price.linkSeconds;
}

void Prices::add(const program::RankRange &range) {
  const program::Program &program = executable.classes(static_cast<int>(range.rank_class()));
  runtime::Position position(executable, range.begin());
  for (const program::Segment &segment : program.segments())
    for (const program::Instruction &instruction : segment.instructions())
      if (std::optional<runtime::CollectiveRecord> record =
              runtime::describeCommunication(instruction, position))
        seconds.try_emplace(runtime::toText(*record), getSeconds(instruction, position, range));
}

std::vector<PricedCollective> weft::priceCollectives(const runtime::InspectReport &report,
                                                     const program::Executable &executable,
                                                     const ClusterModel &cluster) {
  ClusterModel shared = shareHost(cluster, report.ranks);
  Prices prices(executable, shared);
  std::vector<PricedCollective> priced;
  for (const runtime::InspectedCollective &collective : report.collectives)
    priced.push_back(
        {collective, static_cast<double>(collective.record.count) * prices.of(collective.record)});
  return priced;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// The outermost tier between devices so far apart.
static std::string describeTier(const ClusterModel &cluster, int64_t first, int64_t stride,
                                int64_t size) {
  for (const GroupModel &group : cluster.groups) {
    if (first >= group.getNumDevices()) {
      first -= group.getNumDevices();
      continue;
    }
    if (first + stride * (size - 1) >= group.getNumDevices())
      break;
    GroupShape shape = placeGroup(group, stride, size);
    for (size_t tier = group.tiers.size(); tier-- > 0;)
      if (shape.spread[tier] > 1)
        return group.tiers[tier].name;
    return "";
  }
  return cluster.joint ? cluster.joint->name : "";
}

std::vector<AxisTraffic> weft::sumAxes(const runtime::InspectReport::Mesh &mesh, bool isOnly,
                                       const std::vector<PricedCollective> &collectives,
                                       const ClusterModel &cluster) {
  ClusterModel shared = shareHost(cluster, mesh.firstRank + mesh.ranks);
  std::vector<AxisTraffic> axes;
  int64_t stride = mesh.ranks;
  for (const auto &[name, size] : mesh.axes) {
    stride /= size;
    AxisTraffic &axis = axes.emplace_back();
    axis.name = name;
    axis.size = size;
    axis.tier = describeTier(shared, mesh.firstRank, stride, size);
    for (const PricedCollective &collective : collectives) {
      const runtime::CollectiveRecord &record = collective.record;
      auto isOver = [&](const std::string &other) {
        return other == name || other.starts_with(name + ":");
      };
      if (record.isTransfer() || (!isOnly && record.mesh != mesh.name) ||
          std::none_of(record.axes.begin(), record.axes.end(), isOver))
        continue;
      axis.collectives += record.count;
      axis.bytes += static_cast<double>(record.count * record.bytes);
      axis.seconds += collective.seconds;
    }
  }
  return axes;
}
