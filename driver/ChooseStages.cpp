#include "driver/ChooseStages.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Schedule/Pipelines.h"
#include "compiler/Search/StageSchedules.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/Parts.h"
#include "compiler/Sharding/SliceTokens.h"
#include "driver/ChooseMesh.h"
#include "driver/ChooseSlices.h"
#include "driver/ChooseTraining.h"
#include "driver/Diagnostics.h"
#include "driver/PinOptions.h"
#include "driver/Planning.h"
#include "driver/StageCuts.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace weft;

/// So many for each stage are tried: more win little of what the pipeline's ends leave idle.
static constexpr int64_t mostMicrobatches = 8;

/// So many meshes on which there is a plan are looked at, of those on which blocks take the least.
static constexpr size_t mostMeshes = 3;

/// So many schedules are tried beside the usual one.
static constexpr size_t mostSchedules = 3;

/// So often stages are cut anew by what they took.
static constexpr int mostCuts = 2;

/// So many slices of a sequence are tried, and microbatches halved so often for them.
static constexpr int64_t mostSlicesTried = 16;
static constexpr int mostHalvings = 3;

namespace {
/// What is known of a plan whose step was simulated.
struct Tried {
  double seconds = std::numeric_limits<double>::infinity(); ///< where it cannot be
  std::vector<double> computing;                            ///< s, by group of devices
  std::vector<SliceTime> slices;                            ///< where sequences go in several
};
} // namespace

/// Plans the step that a plan asks for, and simulates it on the cluster.
static Tried simulate(ModuleOp module, plan::Plan trial) {
  OwningOpRef<ModuleOp> copy(module.clone());
  QuietDiagnostics quiet(copy->getContext());
  PlanSearch search;
  search.noteTrial();
  if (trainPlanned(*copy, trial, &search).failed())
    return {};
  Result<PricedModule> planned = planModule(*copy, trial, &search);
  if (planned.failed())
    return {};
  Tried tried{trial.prediction().simulated_seconds(), {}, {}};
  if (!planned->program)
    return tried;
  for (const auto &each : planned->program->simulation.classes)
    tried.computing.push_back(each.busy.front());
  if (FailureOr<SmallVector<int64_t>> lengths = findSliceLengths(*copy); succeeded(lengths))
    tried.slices = measureSlices(*planned->program, *lengths);
  return tried;
}

namespace {
class StageChooser {
public:
  /// Of a plan that asks for so many groups of devices.
  StageChooser(ModuleOp module, const plan::Plan &asked, size_t count)
      : module(module), plan(asked), cuts(module, asked, count) {}

  /// Chooses cuts, the mesh, and the number of microbatches.
  Outcome choose(plan::Plan &chosen);
  /// The plan that was chosen, or, where they are faster, others: cut by what its stages took, and
  /// in another schedule, where that is open.
  plan::Plan improve(plan::Plan best);

  /// What the step of a plan takes.
  const Tried &simulate(const plan::Plan &trial);
  /// Whether a plan was tried, and nothing fits.
  bool isRefused(const plan::Plan &trial) const {
    auto known = tried.find(trial.SerializeAsString());
    return known != tried.end() && !std::isfinite(known->second.seconds);
  }

private:
  plan::Plan balance(plan::Plan best, const plan::Mesh &mesh);
  plan::Plan chooseSchedule(plan::Plan best, const plan::Mesh &mesh);
  plan::Plan chooseSlices(const plan::Plan &best, const plan::Mesh &mesh);
  plan::Plan addSlices(const plan::Plan &whole);
  plan::Plan chooseLengths(const plan::Plan &best, ArrayRef<SliceTime> seen);
  plan::Plan takeFastest(const std::vector<plan::Plan> &plans, size_t most = SIZE_MAX);
  Outcome listShapes(std::vector<plan::Mesh> &meshes);
  std::vector<int64_t> listMicrobatches();
  Outcome chooseByTrials(plan::Plan &chosen);

  ModuleOp module;
  plan::Plan plan; ///< that is asked for
  StageCuts cuts;
  std::map<std::string, Tried> tried; ///< by plan
};
} // namespace

const Tried &StageChooser::simulate(const plan::Plan &trial) {
  auto [entry, isNew] = tried.try_emplace(trial.SerializeAsString());
  if (isNew)
    entry->second = ::simulate(module, trial);
  return entry->second;
}

/// The fastest of some plans, or of so many of the first that are feasible; the first where none
/// is, of which the caller will tell.
plan::Plan StageChooser::takeFastest(const std::vector<plan::Plan> &plans, size_t most) {
  const plan::Plan *fastest = &plans.front();
  double least = std::numeric_limits<double>::infinity();
  size_t feasible = 0;
  for (const plan::Plan &each : plans) {
    if (plans.size() == 1 || feasible == most)
      break;
    double seconds = simulate(each).seconds;
    feasible += std::isfinite(seconds);
    if (seconds < least) {
      least = seconds;
      fastest = &each;
    }
  }
  return *fastest;
}

/// Numbers of microbatches that divide the batch: so many times the stages as a power of two.
std::vector<int64_t> StageChooser::listMicrobatches() {
  int64_t batch = BatchDimensions(FunctionGraph(cuts.getMain()).graph).size();
  std::vector<int64_t> numbers;
  for (int64_t times = 1; times <= mostMicrobatches; times *= 2)
    if (auto number = times * static_cast<int64_t>(cuts.countGroups());
        batch > 0 && batch % number == 0)
      numbers.push_back(number);
  return numbers;
}

//===----------------------------------------------------------------------===//
// Better ones
//===----------------------------------------------------------------------===//

/// Cuts stages so that they take as much as each other by what those of a plan took.
plan::Plan StageChooser::balance(plan::Plan best, const plan::Mesh &mesh) {
  Tried told = simulate(best);
  for (int number = 0; number < mostCuts && !told.computing.empty(); ++number) {
    cuts.correct(best, mesh, told.computing);
    plan::Plan other = cuts.cutLike(best, best.training().pipeline(), mesh);
    if (std::equal(other.cuts().begin(), other.cuts().end(), best.cuts().begin(),
                   best.cuts().end()))
      return best;
    Tried then = simulate(other);
    if (then.seconds >= told.seconds)
      return best;
    best = std::move(other);
    told = std::move(then);
  }
  return best;
}

/// Plans in the schedules that suit the blocks best, beside the one that the plan is cut for.
plan::Plan StageChooser::chooseSchedule(plan::Plan best, const plan::Mesh &mesh) {
  int64_t microbatches = best.training().accumulate();
  std::vector<BlockTimes> times = cuts.findTimes(mesh);
  auto share = 1 / static_cast<double>(microbatches);
  for (BlockTimes &block : times)
    block = scale(block, share);
  std::vector<plan::Plan> trials{best};
  for (const ScheduleTime &each : rankSchedules(times, cuts.getHandedBytes(), cuts.countGroups(),
                                                microbatches, share * cuts.getSecondsPerByte(mesh)))
    if (each.name != schedule::listPipelines().front() && trials.size() <= mostSchedules)
      trials.push_back(cuts.cutLike(best, each.name, mesh));
  return takeFastest(trials);
}

/// Cuts sequences with the lengths that suit what slices of some lengths took.
plan::Plan StageChooser::chooseLengths(const plan::Plan &best, ArrayRef<SliceTime> seen) {
  if (seen.empty())
    return best;
  const SliceTime &last = seen.back();
  std::vector<int64_t> lengths =
      chooseSliceLengths(seen, last.context + last.length, static_cast<int64_t>(cuts.countGroups()),
                         std::max<int64_t>(best.training().accumulate(), 1));
  if (lengths.empty())
    return best;
  plan::Plan other = best;
  other.mutable_training()->set_slices(static_cast<int64_t>(lengths.size()));
  other.mutable_training()->mutable_slice_lengths()->Assign(lengths.begin(), lengths.end());
  return takeFastest({best, other});
}

/// Has sequences of a plan go in equal slices, twice as many each time as long as that is faster,
/// then in such as follow from what those took.
plan::Plan StageChooser::addSlices(const plan::Plan &whole) {
  plan::Plan fastest = whole;
  std::vector<SliceTime> seen;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t slices = 2; slices <= mostSlicesTried; slices *= 2) {
    plan::Plan trial = whole;
    trial.mutable_training()->set_slices(slices);
    const Tried &told = simulate(trial);
    seen.insert(seen.end(), told.slices.begin(), told.slices.end());
    if (told.seconds >= least)
      break;
    least = told.seconds;
    fastest = std::move(trial);
  }
  return chooseLengths(fastest, seen);
}

/// Has sequences go in slices where that is faster, with as many microbatches and, where that is
/// open, with fewer.
plan::Plan StageChooser::chooseSlices(const plan::Plan &best, const plan::Mesh &mesh) {
  plan::Plan whole = cuts.cutLike(best, plan.training().pipeline(), mesh);
  std::vector<plan::Plan> trials{best};
  int64_t microbatches = std::max<int64_t>(best.training().accumulate(), 1);
  for (int fewer = 0; fewer < mostHalvings; ++fewer, microbatches /= 2) {
    whole.mutable_training()->set_accumulate(microbatches);
    trials.push_back(addSlices(whole));
    if (microbatches % 2 != 0 || plan.training().accumulate() != 0)
      break;
  }
  return takeFastest(trials);
}

plan::Plan StageChooser::improve(plan::Plan best) {
  if (!cuts.hasCluster() || best.training().accumulate_batches() > 1)
    return best;
  plan::Mesh mesh = best.meshes(0);
  mesh.set_name(plan.meshes(0).name());
  if (best.training().accumulate() > 1) {
    bool isOpen = plan.training().pipeline().empty();
    best = balance(std::move(best), mesh);
    best = isOpen ? chooseSchedule(std::move(best), mesh) : best;
  }
  return plan.training().slices() == anySlices ? chooseSlices(best, mesh) : best;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The meshes that the devices of a group make, those on which blocks take the least first.
Outcome StageChooser::listShapes(std::vector<plan::Mesh> &meshes) {
  meshes = {plan.meshes(0)};
  if (!needsMesh(module, plan))
    return Outcome::success();
  Result<std::vector<plan::Mesh>> all = listMeshes(module, plan);
  if (all.failed())
    return all.getOutcome();
  std::vector<std::pair<double, size_t>> order;
  for (auto [number, mesh] : llvm::enumerate(*all)) {
    double seconds = 0;
    std::vector<BlockTimes> times = cuts.findTimes(mesh);
    for (const BlockTimes &block : times)
      seconds += block.getSum();
    order.push_back({times.empty() ? std::numeric_limits<double>::infinity() : seconds, number});
  }
  llvm::sort(order);
  meshes.clear();
  for (auto [seconds, number] : order)
    meshes.push_back((*all)[number]);
  return Outcome::success();
}

/// Cuts for the meshes that a stage's devices make, and plans in as many microbatches as are usual.
Outcome StageChooser::chooseByTrials(plan::Plan &chosen) {
  std::vector<plan::Mesh> meshes;
  if (Outcome listed = listShapes(meshes); listed.failed())
    return listed;
  std::vector<int64_t> numbers;
  bool takesBatches = plan.training().accumulate_batches() > 1; // each of them is a microbatch
  if (plan.has_training() && plan.training().accumulate() == 0 && !takesBatches)
    numbers = listMicrobatches();
  std::vector<plan::Plan> trials;
  for (const plan::Mesh &mesh : meshes) {
    cuts.cut(trials.emplace_back(plan), mesh);
    if (!numbers.empty())
      trials.back().mutable_training()->set_accumulate(numbers[numbers.size() / 2]);
  }
  chosen = takeFastest(trials, mostMeshes);
  trials.clear();
  for (int64_t number : numbers)
    trials.emplace_back(chosen).mutable_training()->set_accumulate(number);
  if (!trials.empty())
    chosen = takeFastest(trials);
  return Outcome::success();
}

Outcome StageChooser::choose(plan::Plan &chosen) {
  if (Outcome possible = cuts.setUp(); possible.failed())
    return possible;
  if (cuts.hasCluster())
    return chooseByTrials(chosen);
  chosen = plan;
  cuts.cut(chosen, plan.meshes(0));
  return Outcome::success();
}

/// The number of stages of which the step is the fastest: one, or a power of two.
static plan::Plan chooseNumber(ModuleOp module, const plan::Plan &plan) {
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
  int64_t devices = description ? makeClusterModel(*description).groups.front().getNumDevices() : 1;
  plan::Plan best = plan;
  best.clear_stages();
  best.clear_chunks();
  double least = simulate(module, best).seconds;
  std::optional<StageChooser> chooser; // of the best
  for (int64_t number = 2; number <= devices && devices % number == 0; number *= 2) {
    plan::Plan asked = plan, trial;
    asked.set_stages(number);
    StageChooser other(module, asked, number);
    QuietDiagnostics quiet(module.getContext());
    if (other.choose(trial).failed())
      break; // nor has the model as many blocks as more stages want
    if (double seconds = other.simulate(trial).seconds; seconds < least) {
      least = seconds;
      best = std::move(trial);
      chooser.emplace(std::move(other));
    }
  }
  return chooser ? chooser->improve(std::move(best)) : best;
}

/// Stages on so many groups of devices as are asked for. Where that is open, hosts keep the
/// optimizer's state if nothing that was tried fits the devices without.
static Outcome chooseGiven(ModuleOp module, plan::Plan &plan) {
  plan::Plan asked = plan, trial;
  std::optional<StageChooser> chooser(std::in_place, module, asked, asked.stages());
  if (Outcome chosen = chooser->choose(plan); chosen.failed())
    return chosen;
  bool isOpen = asked.training().offload() == plan::Training::OFFLOAD_AUTO && hasHosts(asked);
  if (isOpen && chooser->isRefused(plan)) {
    asked.mutable_training()->set_offload(plan::Training::OFFLOAD_OPTIMIZER);
    StageChooser other(module, asked, asked.stages());
    if (!other.choose(trial).failed() && std::isfinite(other.simulate(trial).seconds)) {
      plan = std::move(trial);
      chooser.emplace(std::move(other));
    }
  }
  plan = chooser->improve(std::move(plan));
  return Outcome::success();
}

Outcome weft::chooseStages(ModuleOp module, plan::Plan &plan) {
  if (plan.stages() == anyStages) {
    plan = chooseNumber(module, plan);
  } else if (plan.stages() > 1) {
    if (Outcome chosen = chooseGiven(module, plan); chosen.failed())
      return chosen;
  }
  plan.clear_stages();
  if (plan.training().slices() == anySlices)
    plan.mutable_training()->clear_slices();
  return Outcome::success();
}
