#include "driver/ChooseStages.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Schedule/Pipelines.h"
#include "compiler/Search/StageSchedules.h"
#include "compiler/Sharding/Parts.h"
#include "driver/ChooseSlices.h"
#include "driver/ChooseTraining.h"
#include "driver/Diagnostics.h"
#include "driver/PinOptions.h"
#include "driver/Planning.h"
#include "driver/StageCuts.h"
#include "driver/StageTrials.h"
#include "driver/StagedSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace weft;

/// So many plans that fit are planned and simulated of those that are expected to be the fastest,
/// no slower than the first by this factor; and so many that do not fit.
static constexpr size_t mostPlans = 3, mostRefused = 6;
static constexpr double nearRange = 1.05;

/// So many schedules are tried beside the usual one, of those that are expected to take no more
/// than this part of its time; so are other cuts.
static constexpr size_t mostSchedules = 3;
static constexpr double worthwhile = 0.99;

/// By this factor, at most, another schedule and other cuts are expected to make a step faster.
static constexpr double improvedRange = 1.3;

/// So often stages are cut anew by what they took.
static constexpr int mostCuts = 2;

/// So many slices of a sequence are tried, and microbatches halved so often for them.
static constexpr int64_t mostSlicesTried = 16;
static constexpr int mostHalvings = 3;

/// What a step takes, on one mesh, in seconds; infinite where it cannot be.
static double simulateWhole(ModuleOp module, plan::Plan trial) {
  OwningOpRef<ModuleOp> copy(module.clone());
  QuietDiagnostics quiet(copy->getContext());
  PlanSearch search;
  search.noteTrial();
  if (trainPlanned(*copy, trial, &search).failed() || planModule(*copy, trial, &search).failed())
    return std::numeric_limits<double>::infinity();
  return trial.prediction().simulated_seconds();
}

namespace {
/// Plans in one number of stages: cut, tried, and made better.
class StagedPlanner {
public:
  /// Of a plan that asks for so many groups of devices; `steps` are of the module.
  StagedPlanner(ModuleOp module, const plan::Plan &asked, size_t count, StagedSteps &steps)
      : plan(asked), cuts(module, asked, count), steps(steps) {}

  Outcome setUp() { return cuts.setUp(); }
  /// Cuts the model as suits the plan's mesh.
  plan::Plan cut(plan::Plan staged) {
    plan::Mesh mesh = staged.meshes(0);
    cuts.cut(staged, mesh);
    return staged;
  }
  /// The plan that was chosen, or, where they are faster, others: cut by what its stages took, and
  /// in another schedule, where that is open.
  plan::Plan improve(plan::Plan best);
  /// A plan that was cut in another schedule.
  plan::Plan putInto(const std::string &schedule, const plan::Plan &staged) {
    return cuts.cutLike(staged, schedule, getMesh(staged));
  }

private:
  plan::Mesh getMesh(const plan::Plan &staged) const;
  plan::Plan balance(plan::Plan best, const plan::Mesh &mesh);
  plan::Plan chooseSchedule(plan::Plan best, const plan::Mesh &mesh);
  plan::Plan chooseSlices(const plan::Plan &best, const plan::Mesh &mesh);
  plan::Plan addSlices(const plan::Plan &whole);
  plan::Plan chooseLengths(const plan::Plan &best, ArrayRef<SliceTime> seen);
  plan::Plan takeFastest(ArrayRef<plan::Plan> plans, double most);

  plan::Plan plan; ///< that is asked for
  StageCuts cuts;
  StagedSteps &steps;
};
} // namespace

/// The fastest of some plans; the first where none is feasible, of which the caller will tell.
plan::Plan StagedPlanner::takeFastest(ArrayRef<plan::Plan> plans, double most) {
  if (plans.size() == 1)
    return plans.front();
  std::vector<const StagedStep *> told = steps.simulate(plans, most);
  auto fastest = llvm::min_element(
      told, [](const StagedStep *a, const StagedStep *b) { return a->seconds < b->seconds; });
  return plans[fastest - told.begin()];
}

//===----------------------------------------------------------------------===//
// Better ones
//===----------------------------------------------------------------------===//

/// Cuts stages so that they take as much as each other by what those of a plan took.
plan::Plan StagedPlanner::balance(plan::Plan best, const plan::Mesh &mesh) {
  StagedStep told = steps.simulate(best);
  for (int number = 0; number < mostCuts && !told.computing.empty(); ++number) {
    cuts.correct(best, mesh, told.computing);
    plan::Plan other = cuts.cutLike(best, best.training().pipeline(), mesh);
    if (cuts.getSlowest(other, mesh) > worthwhile * cuts.getSlowest(best, mesh))
      return best;
    StagedStep then = steps.simulate(other, told.seconds);
    if (then.seconds >= told.seconds)
      return best;
    best = std::move(other);
    told = std::move(then);
  }
  return best;
}

/// Plans in the schedules that suit the blocks best, beside the one that the plan is cut for.
plan::Plan StagedPlanner::chooseSchedule(plan::Plan best, const plan::Mesh &mesh) {
  int64_t microbatches = best.training().accumulate();
  std::vector<BlockTimes> times = cuts.findTimes(mesh);
  auto share = 1 / static_cast<double>(microbatches);
  for (BlockTimes &block : times)
    block = scale(block, share);
  std::vector<ScheduleTime> ranked =
      rankSchedules(times, cuts.getHandedBytes(), cuts.countGroups(), microbatches,
                    share * cuts.getSecondsPerByte(mesh));
  auto usual = llvm::find_if(ranked, [](const ScheduleTime &each) {
    return each.name == schedule::listPipelines().front();
  });
  std::vector<plan::Plan> trials{best};
  for (const ScheduleTime &each : ranked)
    if (usual == ranked.end() || each.seconds < worthwhile * usual->seconds)
      trials.push_back(cuts.cutLike(best, each.name, mesh));
  trials.resize(std::min(trials.size(), mostSchedules + 1));
  // What does not fit at once would lose more by holding less than the schedule wins.
  return takeFastest(trials, /*most=*/0);
}

/// Cuts sequences with the lengths that suit what slices of some lengths took.
plan::Plan StagedPlanner::chooseLengths(const plan::Plan &best, ArrayRef<SliceTime> seen) {
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
  return takeFastest({best, other}, steps.simulate(best).seconds);
}

/// Has sequences of a plan go in equal slices, twice as many each time as long as that is faster,
/// then in such as follow from what those took.
plan::Plan StagedPlanner::addSlices(const plan::Plan &whole) {
  plan::Plan fastest = whole;
  std::vector<SliceTime> seen;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t slices = 2; slices <= mostSlicesTried; slices *= 2) {
    plan::Plan trial = whole;
    trial.mutable_training()->set_slices(slices);
    const StagedStep &told = steps.simulate(trial);
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
plan::Plan StagedPlanner::chooseSlices(const plan::Plan &best, const plan::Mesh &mesh) {
  plan::Plan whole = cuts.cutLike(best, plan.training().pipeline(), mesh);
  std::vector<plan::Plan> trials{best};
  int64_t microbatches = std::max<int64_t>(best.training().accumulate(), 1);
  for (int fewer = 0; fewer < mostHalvings; ++fewer, microbatches /= 2) {
    whole.mutable_training()->set_accumulate(microbatches);
    trials.push_back(addSlices(whole));
    if (microbatches % 2 != 0 || plan.training().accumulate() != 0)
      break;
  }
  return takeFastest(trials, std::numeric_limits<double>::infinity());
}

/// The mesh of each group of devices, by its name in the plan that is asked for.
plan::Mesh StagedPlanner::getMesh(const plan::Plan &staged) const {
  plan::Mesh mesh = staged.meshes(0);
  mesh.set_name(plan.meshes(0).name());
  return mesh;
}

plan::Plan StagedPlanner::improve(plan::Plan best) {
  if (!cuts.hasCluster() || best.training().accumulate_batches() > 1)
    return best;
  plan::Mesh mesh = getMesh(best);
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

namespace {
/// The choice among numbers of stages: how many, on which mesh, trained how.
class StageChoice {
public:
  StageChoice(ModuleOp module, const plan::Plan &asked) : module(module), asked(asked) {}

  /// Tries plans in so many groups of devices that take less than `limit` s a step. Fails where
  /// there are no such stages.
  Outcome run(ArrayRef<int64_t> numbers, double limit);
  /// Whether a plan was found that fits.
  bool isFound() const { return std::isfinite(getLeast()); }
  /// The plan that was chosen, and improved: complete where it fits.
  plan::Plan finish();

private:
  /// What was tried.
  struct Tried {
    StagedPlanner *planner;
    plan::Plan plan;
    double seconds; ///< infinite where it does not fit
  };
  Result<StagedPlanner *> getPlanner(int64_t stages);
  Outcome attempt(ArrayRef<StagedPlan> some, double limit);
  double getLeast() const;
  const Tried *findFastest(llvm::function_ref<bool(const Tried &)> isMeant = [](const Tried &) {
    return true;
  }) const;

  ModuleOp module;
  plan::Plan asked;
  StagedSteps steps{module};
  std::map<int64_t, std::unique_ptr<StagedPlanner>> planners; ///< by number of stages
  std::vector<Tried> tried;
};
} // namespace

Result<StagedPlanner *> StageChoice::getPlanner(int64_t stages) {
  std::unique_ptr<StagedPlanner> &planner = planners[stages];
  if (!planner) {
    plan::Plan own = asked;
    own.set_stages(stages);
    planner = std::make_unique<StagedPlanner>(module, own, stages, steps);
    if (Outcome possible = planner->setUp(); possible.failed())
      return possible;
  }
  return planner.get();
}

/// The fastest that was tried, of equals the first.
const StageChoice::Tried *
StageChoice::findFastest(llvm::function_ref<bool(const Tried &)> isMeant) const {
  const Tried *fastest = nullptr;
  for (const Tried &each : tried)
    if (isMeant(each) && (!fastest || each.seconds < fastest->seconds))
      fastest = &each;
  return fastest;
}

double StageChoice::getLeast() const {
  const Tried *fastest = findFastest();
  return fastest ? fastest->seconds : std::numeric_limits<double>::infinity();
}

/// Plans and simulates some at once.
Outcome StageChoice::attempt(ArrayRef<StagedPlan> some, double limit) {
  std::vector<StagedPlanner *> owners;
  std::vector<plan::Plan> trials;
  for (const StagedPlan &staged : some) {
    Result<StagedPlanner *> planner = getPlanner(staged.plan.stages());
    if (planner.failed())
      return planner.getOutcome();
    owners.push_back(*planner);
    trials.push_back((*planner)->cut(staged.plan));
  }
  std::vector<const StagedStep *> told = steps.simulate(trials, std::min(getLeast(), limit));
  for (auto [planner, trial, step] : llvm::zip_equal(owners, trials, told))
    tried.push_back({planner, trial, step->seconds});
  return Outcome::success();
}

Outcome StageChoice::run(ArrayRef<int64_t> numbers, double limit) {
  for (int64_t stages : numbers)
    if (Result<StagedPlanner *> planner = getPlanner(stages); planner.failed())
      return planner.getOutcome();
  Result<std::vector<StagedPlan>> ranked = rankStages(module, asked, numbers);
  if (ranked.failed())
    return ranked.getOutcome();
  auto isNear = [&](const StagedPlan &staged) {
    return staged.seconds <= nearRange * ranked->front().seconds;
  };
  size_t found = 0, refused = 0;
  for (ArrayRef<StagedPlan> rest = *ranked; !rest.empty();) {
    // What is not near the first is worth a trial only where that does not fit.
    bool isOpen = !isFound() && refused > 0;
    ArrayRef<StagedPlan> some =
        rest.take_front(StagedSteps::atOnce).take_while([&](const StagedPlan &staged) {
          return staged.seconds < limit && (isOpen || isNear(staged));
        });
    if (some.empty() || found >= mostPlans || refused >= mostRefused)
      break;
    if (Outcome attempted = attempt(some, limit); attempted.failed())
      return attempted;
    rest = rest.drop_front(some.size());
    (isFound() ? found : refused) += some.size();
  }
  return Outcome::success();
}

plan::Plan StageChoice::finish() {
  const Tried &best = *findFastest();
  plan::Plan open = best.planner->improve(best.plan);
  // Another schedule may win more on another mesh.
  const Tried *other = findFastest([&](const Tried &each) {
    return each.planner == best.planner &&
           each.plan.meshes(0).SerializeAsString() != best.plan.meshes(0).SerializeAsString();
  });
  if (asked.training().pipeline() != open.training().pipeline() && other &&
      other->seconds < improvedRange * best.seconds) {
    plan::Plan trial = other->planner->putInto(open.training().pipeline(), other->plan);
    if (steps.simulate(trial, /*most=*/0).seconds < steps.simulate(open).seconds)
      open = std::move(trial);
  }
  const StagedStep &told = steps.simulate(open);
  return std::isfinite(told.seconds) ? told.complete : open;
}

/// Numbers of stages that are tried where that is open: powers of two.
static std::vector<int64_t> listNumbers(ModuleOp module, const plan::Plan &plan) {
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
  int64_t devices = description ? makeClusterModel(*description).groups.front().getNumDevices() : 1;
  std::vector<int64_t> numbers;
  QuietDiagnostics quiet(module.getContext());
  for (int64_t number = 2; number <= devices && devices % number == 0; number *= 2) {
    if (StageCuts(module, plan, number).setUp().failed())
      break; // nor has the model as many blocks as more stages want
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<plan::Plan> weft::findStages(ModuleOp module, plan::Plan asked, double limit,
                                           ArrayRef<int64_t> numbers) {
  asked.set_stages(anyStages);
  std::vector<int64_t> tried = listNumbers(module, asked);
  llvm::erase_if(tried, [&](int64_t number) {
    return !numbers.empty() && !llvm::is_contained(numbers, number);
  });
  StageChoice choice(module, asked);
  if (choice.run(tried, improvedRange * limit).failed() || !choice.isFound())
    return std::nullopt;
  plan::Plan found = choice.finish();
  bool isFast = found.has_prediction() && found.prediction().simulated_seconds() < limit;
  return isFast ? std::optional(std::move(found)) : std::nullopt;
}

/// As many stages as are the fastest: one, or a power of two.
static plan::Plan chooseNumber(ModuleOp module, const plan::Plan &plan) {
  plan::Plan whole = plan;
  whole.set_stages(1);
  whole.clear_chunks();
  std::optional<plan::Plan> staged = findStages(module, plan, simulateWhole(module, whole));
  return staged ? *staged : whole;
}

/// Stages on so many groups of devices as are asked for. Where that is open, hosts keep the
/// optimizer's state if nothing that was tried fits the devices without.
static Outcome chooseGiven(ModuleOp module, plan::Plan &plan) {
  double any = std::numeric_limits<double>::infinity();
  StageChoice choice(module, plan);
  if (Outcome chosen = choice.run(plan.stages(), any); chosen.failed())
    return chosen;
  bool isOpen = plan.training().offload() == plan::Training::OFFLOAD_AUTO && hasHosts(plan);
  if (isOpen && !choice.isFound()) {
    plan::Plan onHosts = plan;
    onHosts.mutable_training()->set_offload(plan::Training::OFFLOAD_OPTIMIZER);
    StageChoice other(module, onHosts);
    if (!other.run(plan.stages(), any).failed() && other.isFound()) {
      plan = other.finish();
      return Outcome::success();
    }
  }
  plan = choice.finish();
  return Outcome::success();
}

/// Stages that take equally much work, where no cluster says what they take.
static Outcome chooseByWork(ModuleOp module, plan::Plan &plan) {
  StagedSteps steps(module);
  StagedPlanner planner(module, plan, plan.stages(), steps);
  if (Outcome possible = planner.setUp(); possible.failed())
    return possible;
  plan = planner.cut(std::move(plan));
  return Outcome::success();
}

Outcome weft::chooseStages(ModuleOp module, plan::Plan &plan) {
  PlanSearch clock;
  if (plan.stages() == anyStages) {
    plan = chooseNumber(module, plan);
  } else if (plan.stages() > 1) {
    Outcome chosen =
        plan.cluster().empty() ? chooseByWork(module, plan) : chooseGiven(module, plan);
    if (chosen.failed())
      return chosen;
  }
  plan.clear_stages();
  if (plan.has_prediction())
    plan.mutable_prediction()->set_search_seconds(clock.getSeconds());
  if (plan.training().slices() == anySlices)
    plan.mutable_training()->clear_slices();
  return Outcome::success();
}
