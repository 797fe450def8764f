//===- StageCuts.h - cuts between the blocks of a model ---------*- C++ -*-===//

#ifndef WEFT_DRIVER_STAGECUTS_H
#define WEFT_DRIVER_STAGECUTS_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Graph/Blocks.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Search/CorrectTimes.h"
#include "compiler/Search/StageSchedules.h"
#include "driver/Outcome.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// What blocks have to do. Of one without products, as many operations as it has parameters: so
/// much it moves at least.
std::vector<double> countWork(const ModelBlocks &model);

/// What blocks of a model take on meshes of a cluster, as far as it is known, and cuts between them
/// by which stages take about equally long. Without a cluster their work counts.
class StageCuts {
public:
  /// Of a plan that asks for `count` groups of devices.
  StageCuts(mlir::ModuleOp module, const plan::Plan &asked, size_t count);

  /// Finds blocks and the cluster. Fails, before anything else is asked, where there are no such
  /// stages.
  Outcome setUp();

  /// s that each block takes of the batch on a mesh; empty where that cannot be told.
  std::vector<BlockTimes> findTimes(const plan::Mesh &mesh);
  /// Of what goes from one group of devices of a mesh to the next, over the innermost tier that
  /// joins all of them.
  double getSecondsPerByte(const plan::Mesh &mesh) const;
  /// s that the slowest group of devices of a plan takes, by what blocks take.
  double getSlowest(const plan::Plan &tried, const plan::Mesh &mesh);
  /// Learns by what groups of devices took of a step what kinds of blocks take.
  void correct(const plan::Plan &tried, const plan::Mesh &mesh, llvm::ArrayRef<double> computing);

  /// Adds cuts and meshes to a plan.
  void cut(plan::Plan &to, const plan::Mesh &mesh);
  /// The plan that is asked for, trained as `best` on a mesh but in a schedule, with its cuts.
  plan::Plan cutLike(const plan::Plan &best, const std::string &schedule, const plan::Mesh &mesh);

  bool hasCluster() const { return cluster.has_value(); }
  size_t countGroups() const { return count; }
  /// Bytes that are handed on behind each block but the last.
  llvm::ArrayRef<int64_t> getHandedBytes() const { return model.liveBytes; }

private:
  size_t countParts() const { return count * layout.chunks; }
  std::vector<BlockTimes> planBlocks(const plan::Mesh &mesh);
  std::vector<ExpectedBlock> expect(const plan::Plan &tried, const plan::Mesh &mesh);

  mlir::ModuleOp module;
  mlir::func::FuncOp main;
  plan::Plan plan; ///< that is asked for
  size_t count;    ///< of groups of devices
  StageLayout layout;
  ModelBlocks model;
  std::optional<ClusterModel> cluster;
  std::map<std::string, std::vector<BlockTimes>> known; ///< by mesh: what blocks may take
  std::map<uint32_t, double> factors;                   ///< more than that, by kind of block
};

/// What a block takes of another share of the batch, or is found to take besides.
inline BlockTimes scale(const BlockTimes &times, double factor) {
  return {factor * times.forward, factor * times.backward, factor * times.weightGradient};
}

} // namespace weft

#endif // WEFT_DRIVER_STAGECUTS_H
