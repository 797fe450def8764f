#include "passes/Lowering/ClusterClock.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Executable/InstructionShapes.h"
#include "compiler/Executable/Serialize.h"
#include "compiler/Search/MeshPrices.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <unordered_map>

using namespace mlir;
using namespace weft;

namespace {

class ClusterClock : public InstructionClock {
public:
  ClusterClock(ModuleOp module, const ClusterModel &described, const Target &target)
      : byTarget(target) {
    int64_t ranks = 1;
    for (auto mesh : module.getOps<exec::MeshOp>())
      ranks = std::max<int64_t>(ranks, mesh.getFirstRank() + mesh.getNumRanks());
    cluster = shareHost(described, ranks);
    for (auto mesh : module.getOps<exec::MeshOp>())
      meshes.try_emplace(mesh.getSymName(), std::make_unique<Mesh>(mesh, cluster));
  }

  double getSeconds(exec::InstructionOpInterface op) override {
    exec::PriceAttr price = op.getPrice();
    auto read = static_cast<double>(price.getBytesRead());
    auto written = static_cast<double>(price.getBytesWritten());
    if (auto collective = dyn_cast<exec::CollectiveOp>(*op))
      if (auto mesh = meshes.find(collective.getMesh()); mesh != meshes.end())
        return mesh->second->getSeconds(collective, std::max(read, written));
    if (op.isCommunication())
      return byTarget.getSeconds(op);
    if (mayRunBeside(op))
      return getHostCopySeconds(cluster.groups.front().device, std::max(read, written));
    auto [known, isNew] = computing.try_emplace(hashWork(op));
    if (isNew)
      known->second = getComputingSeconds(op);
    return known->second;
  }

  bool mayRunBeside(exec::InstructionOpInterface op) override {
    return op.isCommunication() ||
           (op.isHostCopy() && cluster.groups.front().device.hostCopy.has_value());
  }

  /// Groups over the same axes have a queue (runtime/Program/Collectives.h). On a host the cores
  /// that do what is in one do not work on another meanwhile. Copies are the first lanes but one.
  unsigned getLane(exec::InstructionOpInterface op) override {
    constexpr unsigned lanesOfCopies = 2;
    auto collective = dyn_cast<exec::CollectiveOp>(*op);
    if (!collective || isHost())
      return getCopyLane(op, 0);
    unsigned number = lanes.try_emplace(collective.getAxes(), lanes.size()).first->second;
    return number == 0 ? 0 : number + lanesOfCopies;
  }

  /// On a host a thread is woken; other devices have a queue for each, and enqueue one call more.
  double getHandoffSeconds() const override {
    return isHost() ? byTarget.getHandoffSeconds() : cluster.groups.front().device.launch;
  }

private:
  bool isHost() const {
    const GroupModel &group = cluster.groups.front();
    return !group.tiers.empty() && group.tiers.front().medium == cluster::MEMORY;
  }

  struct Mesh {
    Mesh(exec::MeshOp op, const ClusterModel &cluster) : prices(shape, cluster) {
      for (auto axis : op.getAxes().getAsRange<exec::MeshAxisAttr>())
        shape.axes.push_back({axis.getName().str(), axis.getSize()});
    }

    double getSeconds(exec::CollectiveOp op, double bytes) {
      SmallVector<AxisRef> axes;
      for (auto axis : op.getAxes().getAsRange<exec::AxisAttr>()) {
        auto found = llvm::find_if(
            shape.axes, [&](const MeshAxis &other) { return other.name == axis.getName(); });
        auto number = static_cast<unsigned>(found - shape.axes.begin());
        if (found != shape.axes.end())
          axes.push_back({number, axis.getPre(), axis.getSize() ? axis.getSize() : found->size});
      }
      return prices.getCollectiveSeconds(toReshard(op.getKind()), axes, bytes);
    }

    MeshShape shape;
    MeshPrices prices;
  };

  static ReshardKind toReshard(exec::CollectiveKind kind) {
    switch (kind) {
    case exec::CollectiveKind::AllReduce:
      return ReshardKind::AllReduce;
    case exec::CollectiveKind::AllGather:
      return ReshardKind::AllGather;
    case exec::CollectiveKind::ReduceScatter:
      return ReshardKind::ReduceScatter;
    case exec::CollectiveKind::AllToAll:
      return ReshardKind::AllToAll;
    case exec::CollectiveKind::Permute:
      return ReshardKind::Permute;
    }
    return ReshardKind::Permute;
  }

  /// Tells apart what takes another time.
  static size_t hashWork(exec::InstructionOpInterface op) {
    exec::PriceAttr price = op.getPrice();
    llvm::hash_code hash = llvm::hash_combine(op->getName(), price.getFlops(), price.getBytesRead(),
                                              price.getBytesWritten(), price.getShapeClass());
    for (const SmallVector<exec::OperandAttr> &operands : {op.getReads(), op.getWrites()})
      for (exec::OperandAttr operand : operands)
        hash =
            llvm::hash_combine(hash, operand.getDtype(), operand.getShape(), operand.getStrides());
    if (auto launch = dyn_cast<exec::LaunchOp>(*op))
      hash = llvm::hash_combine(hash, launch.getTiles(), launch.getGrain());
    if (auto attention = dyn_cast<exec::AttentionOp>(*op))
      hash = llvm::hash_combine(hash, attention.getHighAttr());
    if (auto attention = dyn_cast<exec::AttentionBackwardOp>(*op))
      hash = llvm::hash_combine(hash, attention.getHighAttr());
    return hash;
  }

  /// As the simulator has it.
  double getComputingSeconds(exec::InstructionOpInterface op) const {
    program::Instruction written;
    serializeInstruction(op, written);
    std::optional<InstructionWork> work = describeWork(written);
    return work ? getInstructionSeconds(cluster.groups.front().device, *work, constants) : 0;
  }

  TargetClock byTarget; ///< of messages, which begin as soon as they can in any case
  ClusterModel cluster;
  CostConstants constants;
  std::unordered_map<size_t, double> computing; ///< s, by hashWork
  llvm::StringMap<std::unique_ptr<Mesh>> meshes;
  llvm::DenseMap<Attribute, unsigned> lanes; ///< by axes
};

} // namespace

std::unique_ptr<InstructionClock> weft::makeClock(ModuleOp module, const Target &target) {
  if (auto spec = module->getAttrOfType<StringAttr>(dist::kClusterAttr)) {
    std::string problem;
    if (std::optional<cluster::Cluster> described = resolveCluster(spec.str(), problem))
      return std::make_unique<ClusterClock>(module, makeClusterModel(*described), target);
    module.emitWarning() << dist::kClusterAttr << ": " << problem
                         << "; instructions are ordered by the times of a core";
  }
  return std::make_unique<TargetClock>(target);
}
