#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/OperationSplits.h"
#include "compiler/Search/ChooseDecisions.h"
#include "compiler/Search/GreedyChoice.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Search/ShardOptimizer.h"
#include "passes/Planning/PlanState.h"

namespace weft {
#define GEN_PASS_DEF_CHOOSESHARDINGS
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The most blocks into which an axis splits any value.
static int64_t getUsed(const PlannedPart &planned, unsigned axis) {
  int64_t used = 1;
  for (unsigned tensor = 0; tensor < planned.function->values.size(); ++tensor)
    for (const AxisList &list : planned.shardings->get(tensor).dims)
      for (AxisRef part : list)
        if (part.axis == axis)
          used = std::max(used, part.end());
  return used;
}

/// Tells of axes that leave devices with equal work, because nothing that they may take is longer.
static void warnOfIdleAxes(const PlannedPart &planned, bool isWhole) {
  ModuleOp module = planned.module;
  for (auto [index, axis] : llvm::enumerate(planned.mesh.axes))
    if (int64_t used = getUsed(planned, index); used < axis.size)
      module.emitWarning() << "axis '" << axis.name << "' of size " << axis.size
                           << (isWhole ? "" : " of mesh '" + planned.mesh.name + "'") << " splits "
                           << (used == 1 ? "nothing" : "by " + std::to_string(used) + " only")
                           << ": no dimension that it "
                           << (isBatchAxis(axis.name) ? "takes (the batch) " : "may take ")
                           << "becomes shorter by more; its devices repeat work";
}

namespace {
struct ChooseShardings : weft::impl::ChooseShardingsBase<ChooseShardings> {
  using ChooseShardingsBase::ChooseShardingsBase;
  explicit ChooseShardings(std::shared_ptr<PlanState> state) : state(std::move(state)) {}

  void runOnOperation() override {
    state->status = choose();
    if (state->status != PlanStatus::Applied)
      signalPassFailure();
  }

private:
  /// The stage that the option asks for, else the training step.
  int64_t getOptimizerSharding() {
    auto training = getOperation()->getAttrOfType<DictionaryAttr>("weft.training");
    auto asked = training ? training.getAs<IntegerAttr>("optimizer_sharding") : IntegerAttr();
    return optimizerSharding == 0 && asked ? asked.getInt() : int64_t(optimizerSharding);
  }

  /// The cluster that the option names, else the plan.
  std::string getCluster() const { return cluster.empty() ? state->plan.cluster() : cluster; }

  /// Searches each part for the split that takes the least time.
  PlanStatus search(const PlannedModule &planned, const std::string &name) {
    ModuleOp module = getOperation();
    std::string problem;
    std::optional<cluster::Cluster> description = resolveCluster(name, problem);
    if (!description) {
      module.emitError() << problem;
      return PlanStatus::BadRequest;
    }
    ClusterModel model = makeClusterModel(*description);
    plan::Plan chosen;
    for (const PlannedPart &part : planned.parts) {
      if (part.mesh.devices() > model.groups.front().getNumDevices()) {
        module.emitError() << "mesh '" << part.mesh.name << "' has " << part.mesh.devices()
                           << " devices, cluster " << name << " has "
                           << model.groups.front().getNumDevices();
        return PlanStatus::Infeasible;
      }
      ShardingAnswer answer = searchDecisions(part, model, {}, chosen);
      if (answer.splits.empty()) {
        module.emitError() << "found no split over mesh '" << part.mesh.name
                           << "' that obeys all pins";
        return PlanStatus::Infeasible;
      }
      if (explains)
        emitRemark(module.getLoc())
            << "searched " << answer.numVariables << " variables: " << answer.seconds
            << " s, at least " << answer.lowerBound << " s";
    }
    std::vector<plan::Decision> decisions(chosen.decisions().begin(), chosen.decisions().end());
    PlanStatus pinned = pinDecisions(module, decisions);
    PlanStatus split = applySplits(module, chosen);
    state->plan.MergeFrom(chosen);
    return std::max(pinned, split);
  }

  PlanStatus choose() {
    std::optional<PlannedModule> planned = PlannedModule::get(getOperation());
    if (!planned)
      return PlanStatus::Infeasible;
    if (std::string name = getCluster(); !name.empty())
      return search(*planned, name);
    plan::Plan chosen;
    chooseDecisions(*planned, chosen);
    shardOptimizer(*planned, getOptimizerSharding(), chosen);
    for (const PlannedPart &part : planned->parts)
      warnOfIdleAxes(part, planned->parts.size() == 1);
    std::vector<plan::Decision> decisions(chosen.decisions().begin(), chosen.decisions().end());
    state->plan.MergeFrom(chosen);
    return pinDecisions(getOperation(), decisions);
  }

  std::shared_ptr<PlanState> state = std::make_shared<PlanState>();
};
} // namespace

std::unique_ptr<Pass> weft::createChooseShardings(std::shared_ptr<PlanState> state) {
  return std::make_unique<ChooseShardings>(std::move(state));
}
