#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/OperationSplits.h"
#include "compiler/Search/ChooseDecisions.h"
#include "compiler/Search/GreedyChoice.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Search/ShardOptimizer.h"
#include "compiler/Sharding/Decisions.h"
#include "passes/Planning/PlanState.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

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

  PlanStatus search(const PlannedModule &planned, const std::string &name);

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

/// What a device may hold: devices of one host share its memory, which only a person can divide.
static double getMemoryLimit(const plan::Plan &plan, const GroupModel &group,
                             const CostConstants &constants) {
  if (plan.memory_limit() > 0)
    return static_cast<double>(plan.memory_limit());
  bool shares = !group.tiers.empty() && group.tiers.front().medium == cluster::MEMORY;
  return shares ? 0 : group.device.memory / (1 + constants.allocatorReserve);
}

static std::string describeBytes(double bytes) {
  double mebibytes = bytes / (1 << 20);
  return mebibytes >= 1024 ? llvm::formatv("{0:f2} GiB", mebibytes / 1024).str()
                           : llvm::formatv("{0:f2} MiB", mebibytes).str();
}

/// Says why there is no split: pins, or memory, with what the least would be.
static void explainNone(const PlannedPart &part, const ClusterModel &model, SearchOptions options) {
  double limit = options.memoryLimit;
  options.memoryLimit = 0;
  options.leastMemory = true;
  plan::Plan unused;
  ShardingAnswer least = searchDecisions(part, model, options, unused);
  ModuleOp module = part.module;
  std::string place = llvm::formatv("{0} devices", part.mesh.devices()).str();
  if (least.stuck) {
    Operation *op = part.function->operations[*least.stuck];
    op->emitOpError() << "expected a split of " << describePlace(op->getResult(0))
                      << " that reads what is pinned as it is pinned, got none";
  } else if (least.splits.empty()) {
    emitError(module.getLoc()) << "no split over the " << place << " of mesh '" << part.mesh.name
                               << "' obeys all that is pinned";
  } else {
    emitError(module.getLoc()) << "no split over " << place << " fits the " << describeBytes(limit)
                               << " that one may hold: the least found is "
                               << describeBytes(least.memory)
                               << " (weights, states, and values where most are kept); use more "
                                  "devices, a higher limit (--memory), or, to train, --recompute "
                                  "auto and more microbatches (--accumulate)";
  }
}

/// Searches each part for the split that takes the least time.
PlanStatus ChooseShardings::search(const PlannedModule &planned, const std::string &name) {
  ModuleOp module = getOperation();
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(name, problem);
  if (!description) {
    emitError(module.getLoc()) << problem;
    return PlanStatus::BadRequest;
  }
  ClusterModel model = makeClusterModel(*description);
  SearchOptions options;
  options.folds = folds;
  options.memoryLimit = getMemoryLimit(state->plan, model.groups.front(), CostConstants());
  plan::Plan chosen;
  plan::Prediction &prediction = *chosen.mutable_prediction();
  prediction.set_memory_limit_bytes(options.memoryLimit);
  auto start = std::chrono::steady_clock::now();
  for (const PlannedPart &part : planned.parts) {
    if (part.mesh.devices() > model.groups.front().getNumDevices()) {
      emitError(module.getLoc()) << "expected a mesh of at most "
                                 << model.groups.front().getNumDevices() << " devices, which "
                                 << name << " has, got: " << part.mesh.devices();
      return PlanStatus::Infeasible;
    }
    ShardingAnswer answer = searchDecisions(part, model, options, chosen);
    if (answer.splits.empty()) {
      if (!state->isTrial)
        explainNone(part, model, options);
      return PlanStatus::Infeasible;
    }
    prediction.set_step_seconds(prediction.step_seconds() + answer.seconds);
    prediction.set_lower_bound_seconds(prediction.lower_bound_seconds() + answer.lowerBound);
    prediction.set_memory_bytes(std::max(prediction.memory_bytes(), answer.memory));
    if (explains)
      emitRemark(module.getLoc()) << "searched " << answer.numVariables
                                  << " variables: " << answer.seconds << " s, at least "
                                  << answer.lowerBound << " s";
  }
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  prediction.set_search_seconds(taken.count());
  std::vector<plan::Decision> decisions(chosen.decisions().begin(), chosen.decisions().end());
  PlanStatus pinned = pinDecisions(module, decisions);
  PlanStatus split = applySplits(module, chosen);
  state->plan.MergeFrom(chosen);
  return std::max(pinned, split);
}

std::unique_ptr<Pass> weft::createChooseShardings(std::shared_ptr<PlanState> state) {
  return std::make_unique<ChooseShardings>(std::move(state));
}
