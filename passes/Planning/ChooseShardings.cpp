#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/OperationSplits.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Search/MakeProblem.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Search/ShardOptimizer.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/Decisions.h"
#include "compiler/Support/Bytes.h"
#include "passes/Planning/PlanState.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <map>
#include <numeric>

namespace weft {
#define GEN_PASS_DEF_CHOOSESHARDINGS
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Of what a stage's devices may hold, what the search counts at first: programs hold some
/// hundredths more.
static constexpr double stageShare = 0.95;

/// The most blocks into which an axis splits any value.
static int64_t getUsed(const ShardingAnswer &answer, unsigned axis) {
  int64_t used = 1;
  auto add = [&](const AxisList &list) {
    for (AxisRef part : list)
      if (part.axis == axis)
        used = std::max(used, part.end());
  };
  for (const OperationSplit &split : answer.splits)
    llvm::for_each(split.axes, add);
  for (const std::vector<std::optional<TensorSharding>> *forms : {&answer.forms, &answer.returned})
    for (const std::optional<TensorSharding> &form : *forms)
      if (form)
        llvm::for_each(form->dims, add);
  return used;
}

static void warnOfIdleAxis(const PlannedPart &part, const MeshAxis &axis, int64_t used,
                           int64_t rows, bool isWhole) {
  ModuleOp module = part.module;
  InFlightDiagnostic warning = module.emitWarning();
  warning << "axis '" << axis.name << "' of size " << axis.size
          << (isWhole ? "" : " of mesh '" + part.mesh.name + "'") << " splits "
          << (used == 1 ? "nothing" : "by " + std::to_string(used) + " only")
          << (isBatchAxis(axis.name)
                  ? ": no dimension that it takes (the batch) becomes shorter by more"
                  : ": no dimension becomes shorter by more, or none at a gain")
          << "; its devices repeat work";
  if (isBatchAxis(axis.name) && 0 < rows && rows < axis.size)
    warning << ": of a batch of " << rows << ", give it " << axis.size
            << " rows or more, or the axis no more than " << rows
            << (rows == 1 ? " device" : " devices");
}

/// Tells of axes that leave devices with equal work, because nothing that they may take is longer:
/// without a cluster, of all; with one, by whose times the search may leave some, of those of the
/// batch whose size was asked for.
static void warnOfIdleAxes(const PlannedPart &part, const ShardingAnswer &answer, bool isWhole,
                           const PlanState &state, bool isNamed) {
  int64_t rows = BatchDimensions(part.function->graph).size(); // of a microbatch
  for (auto [index, axis] : llvm::enumerate(part.mesh.axes)) {
    bool isShort = isBatchAxis(axis.name) && 0 < rows && rows < axis.size;
    int64_t used = getUsed(answer, index);
    if (isNamed ? isShort && !state.chosenAxes.contains(axis.name) : isShort || used < axis.size)
      warnOfIdleAxis(part, axis, isShort ? std::min(used, rows) : used, rows, isWhole);
  }
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

  /// The cluster that the option names, else the plan; none: the reference cluster.
  std::string getCluster() const { return cluster.empty() ? state->plan.cluster() : cluster; }

  /// Whether it is known that no split fits.
  bool isTooLarge() const { return memoryLimit > 0 && state->excessiveBytes > memoryLimit; }

  PlanStatus choose();
  PlanStatus setUp(const PlannedModule &planned);
  PlanStatus shardOptimizer(PlannedModule &planned, plan::Plan &chosen);
  PlanStatus search(const PlannedModule &planned, plan::Plan &chosen);
  ShardingAnswer searchPart(const PlannedPart &part);
  ShardingAnswer searchWithin(double limit, const PlannedPart &part);
  std::optional<std::vector<ShardingAnswer>> searchParts(const PlannedModule &planned);
  void predict(const PlannedPart &part, const ShardingAnswer &answer, plan::Plan &chosen);
  int64_t getFirstDevice(const PlannedPart &part) const;

  ClusterModel model;
  double memoryLimit = 0;         ///< B that a device may hold; 0: any
  std::map<int64_t, double> held; ///< B, by the first device of parts that share theirs
  std::map<int64_t, int> sharing; ///< how many parts do
  SearchOptions options;
  FunctionNames names;
  std::shared_ptr<PlanState> state = std::make_shared<PlanState>();
};
} // namespace

/// Says that there is no split that fits.
static void explainExcess(const PlannedPart &part, double limit, double least) {
  emitError(ModuleOp(part.module).getLoc())
      << "no split over " << part.mesh.devices() << " devices fits the " << describeBytes(limit)
      << " that one may hold: the least found is " << describeBytes(least)
      << " (weights, states, and values where most are kept)";
}

/// Says why there is no split: pins, or memory, with what the least would be.
static void explainNone(const PlannedPart &part, const ClusterModel &model, SearchOptions options) {
  double limit = options.memoryLimit;
  options.memoryLimit = 0;
  options.leastMemory = true;
  ShardingAnswer least = PartAnswers().get(part, model, options);
  if (least.stuck) {
    Operation *op = part.function->operations[*least.stuck];
    op->emitOpError() << "expected a split of " << describePlace(op->getResult(0))
                      << " that reads what is pinned as it is pinned, got none";
  } else if (least.splits.empty()) {
    emitError(ModuleOp(part.module).getLoc())
        << "no split over the " << part.mesh.devices() << " devices of mesh '" << part.mesh.name
        << "' obeys all that is pinned";
  } else {
    explainExcess(part, limit, least.memory);
  }
}

/// Reads the cluster: without one, the reference cluster, of which memory has no limit but a price:
/// a byte of a weight held costs what moving one does.
PlanStatus ChooseShardings::setUp(const PlannedModule &planned) {
  std::string name = getCluster(), problem;
  bool isNamed = !name.empty();
  int64_t devices = 1;
  for (const PlannedPart &part : planned.parts)
    devices = std::max(devices, part.mesh.devices());
  std::optional<cluster::Cluster> description = resolveCluster(
      isNamed ? name : llvm::formatv("{0}:{1}", referenceCluster, devices).str(), problem);
  Location loc = getOperation().getLoc();
  if (!description)
    return emitError(loc) << problem, PlanStatus::BadRequest;
  model = makeClusterModel(*description);
  const GroupModel &group = model.groups.front();
  if (devices > group.getNumDevices()) {
    emitError(loc) << "expected a mesh of at most " << group.getNumDevices() << " devices, which "
                   << name << " has, got: " << devices;
    return PlanStatus::Infeasible;
  }
  options.folds = folds;
  options.timeLimit = std::min(options.timeLimit, state->timeLimit);
  options.gap = state->isTrial ? trialGap : 0;
  options.leastMemory = state->leastMemory;
  countStages(state->plan, options);
  memoryLimit = getMemoryLimit(state->plan, model);
  if (!options.leastMemory)
    options.memoryLimit = memoryLimit;
  options.weightSeconds = isNamed ? 0 : 1 / group.tiers.front().seen;
  options.splitsStates = isNamed;
  options.splitsUpdates = isNamed || getOptimizerSharding() > 0;
  options.splitsSums = isNamed && getOptimizerSharding() == 0;
  options.splitsBatch = !isNamed;
  options.splitsExperts = isNamed;
  return PlanStatus::Applied;
}

/// Pins what a stage of optimizer sharding asks for, where the rest would lie without it.
PlanStatus ChooseShardings::shardOptimizer(PlannedModule &planned, plan::Plan &chosen) {
  SearchOptions before = options;
  before.memoryLimit = 0;
  before.splitsStates = before.splitsUpdates = false;
  PartAnswers answers;
  for (const PlannedPart &part : planned.parts) {
    ShardingAnswer answer = answers.get(part, model, before);
    if (!answer.splits.empty())
      weft::shardOptimizer(part, answer, getOptimizerSharding(), chosen);
  }
  std::vector<plan::Decision> decisions(chosen.decisions().begin(), chosen.decisions().end());
  if (PlanStatus pinned = pinDecisions(getOperation(), decisions, names);
      pinned != PlanStatus::Applied)
    return pinned;
  std::optional<PlannedModule> again = PlannedModule::get(getOperation());
  if (!again)
    return PlanStatus::Infeasible;
  planned = std::move(*again);
  propagateBatch(planned);
  return PlanStatus::Applied;
}

int64_t ChooseShardings::getFirstDevice(const PlannedPart &part) const {
  for (const plan::Mesh &mesh : state->plan.meshes())
    if (mesh.name() == part.mesh.name)
      return mesh.first_device();
  return 0;
}

/// What the search expects of a step, on a cluster that was named.
void ChooseShardings::predict(const PlannedPart &part, const ShardingAnswer &answer,
                              plan::Plan &chosen) {
  if (explains)
    emitRemark(getOperation().getLoc())
        << "searched " << answer.numVariables << " variables: " << answer.seconds << " s, at least "
        << answer.lowerBound << " s; communicates " << answer.communication << " s";
  if (getCluster().empty())
    return;
  plan::Prediction &prediction = *chosen.mutable_prediction();
  prediction.set_memory_limit_bytes(memoryLimit);
  prediction.set_step_seconds(prediction.step_seconds() + answer.seconds);
  prediction.set_lower_bound_seconds(prediction.lower_bound_seconds() + answer.lowerBound);
  double &bytes = held[getFirstDevice(part)] += answer.memory;
  prediction.set_memory_bytes(std::max(prediction.memory_bytes(), bytes));
}

/// The split of a part that takes the least time: what is known of a shorter program, else
/// searched.
ShardingAnswer ChooseShardings::searchPart(const PlannedPart &part) {
  if (isTooLarge())
    return {};
  if (state->known)
    if (std::optional<ShardingAnswer> answer =
            carryOver(*state->known, part.function->graph, listKinds(part)))
      return std::move(*answer);
  return state->answers->get(part, model, options);
}

/// Of how many microbatches each stage has values at a time that wait.
static std::vector<Waiting> listWaiting(const plan::Plan &plan, size_t parts) {
  std::vector<Waiting> all(parts);
  schedule::Pipeline pipeline = getPipeline(plan);
  std::string problem;
  if (!plan.has_training() || parts == 1 || (pipeline.microbatches == 1 && pipeline.slices == 1))
    return all;
  std::optional<schedule::Schedule> schedule = schedule::makePipeline(pipeline, problem);
  if (!schedule || schedule->placement.ranks.size() != parts)
    return all;
  auto toMicrobatches = [&](int32_t slices) {
    return static_cast<double>((slices + pipeline.slices - 1) / pipeline.slices);
  };
  for (auto [waiting, counts] : llvm::zip_equal(all, schedule::countWaiting(*schedule)))
    waiting = {toMicrobatches(counts.kept), toMicrobatches(counts.putOff)};
  // The last stage waits for no other one: its passes are one phase, whatever the schedule.
  all.back().kept = std::min(all.back().kept, 1 + all.back().putOff);
  return all;
}

/// Searches a part within what its devices may hold, `limit` B, or, before, a little less: if the
/// program holds more than is counted, all is to be searched again.
ShardingAnswer ChooseShardings::searchWithin(double limit, const PlannedPart &part) {
  auto lower = state->limits.find(getFirstDevice(part));
  bool isLower = lower != state->limits.end(), isStage = sharing.size() > 1;
  for (double share : {isStage && !isLower ? stageShare : 1, 1.0}) {
    options.memoryLimit = share * (isLower ? lower->second : limit) / sharing[getFirstDevice(part)];
    ShardingAnswer answer = searchPart(part);
    if (!answer.splits.empty() || share == 1)
      return answer;
  }
  return {};
}

/// Searches the parts, those with the fewest microbatches in flight first (PartAnswers.h). None,
/// which is said, where there is no split of one that fits.
std::optional<std::vector<ShardingAnswer>>
ChooseShardings::searchParts(const PlannedModule &planned) {
  double limit = options.memoryLimit;
  std::vector<Waiting> waiting = listWaiting(state->plan, planned.parts.size());
  std::vector<size_t> order(planned.parts.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tuple(waiting[a].kept, waiting[a].putOff, a) <
           std::tuple(waiting[b].kept, waiting[b].putOff, b);
  });
  std::vector<ShardingAnswer> answers(planned.parts.size());
  for (size_t number : order) {
    const PlannedPart &part = planned.parts[number];
    if (planned.parts.size() > 1)
      options.waiting = waiting[number];
    answers[number] = searchWithin(limit, part);
    if (!answers[number].splits.empty() || part.function->graph.nodes.empty())
      continue;
    if (isTooLarge())
      explainExcess(part, memoryLimit, state->excessiveBytes);
    else if (!state->isTrial)
      explainNone(part, model, options);
    return std::nullopt;
  }
  return answers;
}

/// Searches each part for the split that takes the least time.
PlanStatus ChooseShardings::search(const PlannedModule &planned, plan::Plan &chosen) {
  held.clear();
  sharing.clear();
  for (const PlannedPart &part : planned.parts)
    ++sharing[getFirstDevice(part)];
  std::optional<std::vector<ShardingAnswer>> answers = searchParts(planned);
  if (!answers)
    return PlanStatus::Infeasible;
  for (const auto &[part, answer] : llvm::zip_equal(planned.parts, *answers)) {
    if (!answer.splits.empty())
      addDecisions(part, answer, names, chosen);
    predict(part, answer, chosen);
    if (!state->isTrial)
      warnOfIdleAxes(part, answer, planned.parts.size() == 1, *state, !getCluster().empty());
  }
  state->counted = held;
  return PlanStatus::Applied;
}

PlanStatus ChooseShardings::choose() {
  ModuleOp module = getOperation();
  names = {};
  std::optional<PlannedModule> planned = PlannedModule::get(module);
  if (!planned)
    return PlanStatus::Infeasible;
  propagateBatch(*planned);
  plan::Plan chosen;
  auto start = std::chrono::steady_clock::now();
  PlanStatus status = setUp(*planned);
  if (status == PlanStatus::Applied && getOptimizerSharding() > 0)
    status = shardOptimizer(*planned, chosen);
  int pinned = chosen.decisions_size();
  if (status == PlanStatus::Applied)
    status = search(*planned, chosen);
  if (status != PlanStatus::Applied)
    return status;
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (chosen.has_prediction())
    chosen.mutable_prediction()->set_search_seconds(taken.count());
  std::vector<plan::Decision> decisions(chosen.decisions().begin() + pinned,
                                        chosen.decisions().end());
  status = std::max(pinDecisions(module, decisions, names), applySplits(module, chosen, names));
  state->plan.MergeFrom(chosen);
  if (planned->channels.empty()) // else it knows more of batches than who reads the plan again
    state->read = std::move(planned);
  return status;
}

std::unique_ptr<Pass> weft::createChooseShardings(std::shared_ptr<PlanState> state) {
  return std::make_unique<ChooseShardings>(std::move(state));
}
