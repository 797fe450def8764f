#include "driver/Planning.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Schedule/Pipelines.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Sharding/SliceTokens.h"
#include "driver/ChooseMesh.h"
#include "driver/ChooseStages.h"
#include "driver/ChooseTraining.h"
#include "driver/Concurrently.h"
#include "driver/FitPlan.h"
#include "driver/PinOptions.h"
#include "driver/StageTrials.h"
#include "passes/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

/// By what share a plan's price may be off before people are told.
static constexpr double staleFrom = 0.01;

/// Of what a step takes on one mesh, what it must be expected to take in stages for these to be
/// looked for, which takes long.
static constexpr double stagesBelow = 0.8;

/// s that a search is given in any case.
static constexpr double leastTime = 0.1;

//===----------------------------------------------------------------------===//
// Before the model
//===----------------------------------------------------------------------===//

static Result<plan::Plan> addTraining(mlir::MLIRContext &context, plan::Plan plan,
                                      const TrainingOptions &options) {
  if (options.optimizer.empty())
    return plan;
  Result<plan::Training> training = readTrainingOptions(context, options);
  if (training.failed())
    return training.getOutcome();
  *plan.mutable_training() = std::move(*training);
  return plan;
}

/// A plan keeps what its cluster is called by, and so must find it again.
static Outcome checkCluster(mlir::MLIRContext &context, const std::string &spec) {
  if (spec == "-")
    return fail(context, ErrorKind::Usage,
                "--cluster -: expected the name of a cluster, or of a file that describes one, "
                "which the plan keeps");
  return spec.empty() ? Outcome::success() : findCluster(context, spec).getOutcome();
}

Result<plan::Plan> weft::preparePlan(mlir::MLIRContext &context, const PlanOptions &options,
                                     ModelOptions &load) {
  bool isFile = !options.plan.empty();
  std::string problem;
  StageLayout layout;
  if (!isFile && !options.cuts.empty())
    if (Outcome read = readLayout(context, options.pins, layout); read.failed())
      return read;
  std::optional<plan::Plan> plan =
      isFile ? readPlan(options.plan, problem)
             : startPlan(options.mesh, options.cuts, options.shard, problem, layout);
  if (!plan)
    return fail(context, isFile ? ErrorKind::BadInput : ErrorKind::Usage, problem);
  if (!isFile) {
    if (Outcome known = checkCluster(context, options.cluster); known.failed())
      return known;
    plan->set_cluster(options.cluster);
    plan->set_memory_limit(options.memory);
    Result<plan::Plan> asked = addTraining(context, std::move(*plan), options.training);
    if (asked.failed())
      return asked;
    if (Outcome pinned = addPins(context, options.pins, *asked); pinned.failed())
      return pinned;
    load.isTrained = asked->has_training();
    return asked;
  }
  if (!plan->has_model() || plan->model().fingerprint().empty())
    return fail(context, ErrorKind::BadInput,
                "plan " + options.plan + ": expected the model's fingerprint");
  if (plan->stages() != 0)
    return fail(context, ErrorKind::BadInput,
                "plan " + options.plan +
                    ": expected no stages in a finished plan, which its cuts and meshes make; plan "
                    "again with --pin stage=" +
                    std::to_string(plan->stages()));
  if (plan->training().slices() == anySlices)
    return fail(context, ErrorKind::BadInput,
                "plan " + options.plan +
                    ": expected a number of slices in a finished plan; plan again with --pin "
                    "slices=auto");
  for (const plan::DimBinding &dim : plan->model().dims())
    load.planDims.push_back({dim.name(), dim.size()});
  load.planDtype = plan->model().dtype();
  load.isTrained = plan->has_training();
  load.planCarry.assign(plan->model().carry().begin(), plan->model().carry().end());
  return std::move(*plan);
}

//===----------------------------------------------------------------------===//
// With the model
//===----------------------------------------------------------------------===//

ErrorKind weft::toError(PlanStatus status, bool fromFile) {
  switch (status) {
  case PlanStatus::Applied: // what failed was not about the plan
  case PlanStatus::BadModel:
    return ErrorKind::BadInput;
  case PlanStatus::BadRequest:
    return ErrorKind::Usage;
  case PlanStatus::UnknownName:
    return fromFile ? ErrorKind::BadInput : ErrorKind::Usage;
  case PlanStatus::Infeasible:
    return ErrorKind::Infeasible;
  }
  return ErrorKind::Infeasible;
}

bool weft::isFromFile(const plan::Plan &plan) {
  return plan.has_model() && !plan.model().fingerprint().empty();
}

/// Whether nothing of what a search may choose of a training is pinned.
static bool isWhollyOpen(const plan::Training &training) {
  return training.recompute() == plan::Training::AUTO && training.accumulate() == 0;
}

/// Some schedules want more microbatches, or a multiple of the stages' groups of devices.
static Outcome checkSchedule(mlir::MLIRContext &context, const plan::Plan &plan) {
  schedule::Pipeline pipeline = getPipeline(plan);
  if (plan.meshes_size() == 1 || (pipeline.microbatches == 1 && pipeline.slices == 1))
    return Outcome::success();
  std::string problem;
  schedule::makePipeline(pipeline, problem);
  return problem.empty() ? Outcome::success()
                         : fail(context, ErrorKind::Infeasible, "the plan's stages: " + problem);
}

/// Whether nothing is said of stages, or of meshes that they might not have.
static bool mayHaveStages(mlir::ModuleOp module, const plan::Plan &plan) {
  return plan.has_training() && plan.stages() == 0 && needsMesh(module, plan) &&
         plan.meshes(0).axes().empty() && plan.decisions().empty();
}

/// Takes stages where they are faster than the best plan on one mesh. They are looked for where
/// they are expected to be much faster.
static void considerStages(mlir::ModuleOp module, const plan::Plan &asked, plan::Plan &plan,
                           PlanSearch &search) {
  if (search.isTrial() || search.getCandidates().empty() || std::isfinite(search.getRemaining()))
    return;
  const Candidate &best = search.getCandidates().front();
  std::optional<StagedPlan> expected = best.fits() ? estimateStages(module, asked) : std::nullopt;
  if (!expected || expected->seconds > stagesBelow * best.getSeconds())
    return;
  int64_t about = expected->plan.stages();
  if (std::optional<plan::Plan> staged =
          findStages(module, asked, best.getSeconds(), {about / 2, about, 2 * about})) {
    plan = std::move(*staged);
    search.add(plan);
  }
}

Outcome weft::trainPlanned(mlir::ModuleOp module, plan::Plan &plan, PlanSearch *search,
                           WholeStep *begun) {
  bool fromFile = isFromFile(plan), mayCut = !fromFile && mayHaveStages(module, plan);
  if (plan.has_training())
    if (Outcome complete = completeLoss(module, *plan.mutable_training(), fromFile);
        complete.failed())
      return complete;
  if (Outcome cut = fromFile ? Outcome::success() : chooseStages(module, plan); cut.failed())
    return cut;
  if (!fromFile && plan.has_training() && !needsTrainingChoice(plan))
    closeTraining(*plan.mutable_training());
  PlanSearch own;
  PlanSearch &trials = search ? *search : own;
  if (!fromFile && plan.has_training() && !plan.cluster().empty())
    trials.keepUntrained(module);
  if (!fromFile && needsMesh(module, plan))
    trials.keepAsked(plan);
  if (!fromFile && needsTrainingChoice(plan) && isWhollyOpen(plan.training()))
    trials.noteTrainingChoice();
  WholeStep whole;
  plan::Plan asked = plan;
  if (!fromFile && (needsTrainingChoice(plan) || needsMesh(module, plan)))
    if (Outcome chosen = chooseTraining(module, plan, trials, whole); chosen.failed())
      return chosen;
  if (mayCut)
    considerStages(module, asked, plan, trials);
  if (Outcome possible = checkSchedule(*module.getContext(), plan); possible.failed())
    return possible;
  if (!plan.has_training() || whole.take(module, plan.training()) ||
      (begun && begun->copy(module, plan.training())))
    return Outcome::success();
  return trainModule(module, plan.training(), fromFile);
}

/// Runs the passes that plan a module; a complete plan is obeyed as it is.
static Result<PlannedModule> runPlanning(mlir::ModuleOp module, plan::Plan &plan, bool isWhole,
                                         bool fromFile, const PlanSearch &search,
                                         BytesByGroup *counted = nullptr) {
  auto state = std::make_shared<PlanState>();
  state->plan = std::move(plan);
  state->isWhole = isWhole;
  state->timeLimit = std::max(leastTime, search.getRemaining());
  for (const plan::Mesh &mesh : state->plan.meshes())
    for (const plan::Axis &axis : mesh.axes())
      if (search.choosesAxis(axis.name()))
        state->chosenAxes.insert(axis.name());
  if (!isWhole && !search.getCandidates().empty())
    state->known = search.getCandidates().front().known;
  if (!isWhole)
    state->excessiveBytes = search.getExcessiveBytes();
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false); // lowering, which follows, verifies
  buildPlanPipeline(passes, state);
  bool succeeded = mlir::succeeded(passes.run(module));
  plan = std::move(state->plan);
  if (counted)
    *counted = std::move(state->counted);
  if (!succeeded)
    return toError(state->status, fromFile);
  if (failed(checkSlices(module)))
    return ErrorKind::Infeasible;
  return std::move(*state->planned);
}

/// Prices a plan that was read as what it is now: the description of its cluster, the prices, or
/// the plan itself may have been changed since.
static Result<std::optional<SimulatedProgram>> priceAgain(mlir::ModuleOp module, plan::Plan &plan,
                                                          bool isAnswer) {
  double before = plan.prediction().simulated_seconds();
  if (plan.cluster().empty() || before <= 0)
    return std::optional<SimulatedProgram>();
  std::string problem;
  mlir::Location nowhere = mlir::UnknownLoc::get(module.getContext());
  std::optional<cluster::Cluster> cluster = resolveCluster(plan.cluster(), problem);
  if (!cluster) {
    mlir::emitWarning(nowhere) << "the plan cannot be priced again: " << problem;
    return std::optional<SimulatedProgram>();
  }
  Result<SimulatedProgram> priced = pricePlanned(module, plan, isAnswer);
  if (priced.failed())
    return priced.getOutcome();
  plan.mutable_prediction()->set_memory_limit_bytes(
      getMemoryLimit(plan, makeClusterModel(*cluster)));
  double now = plan.prediction().simulated_seconds();
  if (std::abs(now - before) > staleFrom * before)
    mlir::emitWarning(nowhere) << llvm::formatv(
        "the plan is priced at {0:f6} s a step on {1}, where its program now takes {2:f6} s: it, "
        "the cluster's description or the prices were changed; plan again",
        before, plan.cluster(), now);
  return std::optional(std::move(*priced));
}

/// Where short programs said to how much the search must be held so that the program fits, plans a
/// module so, a copy of which is `open`. None where nothing was said, or there is no such plan.
static std::optional<PlannedModule> planHeld(mlir::ModuleOp module, mlir::ModuleOp open,
                                             plan::Plan &plan, const PlanSearch &search) {
  if (search.getCandidates().empty() || search.getCandidates().front().countedLimit <= 0)
    return std::nullopt;
  const Candidate &best = search.getCandidates().front();
  plan::Plan trial = plan;
  trial.set_memory_limit(static_cast<int64_t>(best.countedLimit));
  mlir::OwningOpRef<mlir::ModuleOp> copy(open.clone());
  QuietDiagnostics quiet(module.getContext());
  Result<PlannedModule> planned = runPlanning(*copy, trial, false, false, search);
  if (planned.failed())
    return std::nullopt;
  takeCopy(module, *copy, *planned);
  trial.set_memory_limit(plan.memory_limit());
  trial.mutable_prediction()->set_memory_limit_bytes(best.plan.prediction().memory_limit_bytes());
  plan = std::move(trial);
  return std::move(*planned);
}

/// Prices a plan that was searched, or, where that may have changed since, read.
static Outcome price(mlir::ModuleOp module, plan::Plan &plan, PricedModule &result, bool fromFile,
                     bool isAnswer) {
  if (fromFile) {
    Result<std::optional<SimulatedProgram>> again = priceAgain(module, plan, isAnswer);
    if (!again.failed())
      result.program = std::move(*again);
    return again.getOutcome();
  }
  Result<SimulatedProgram> priced = pricePlanned(module, plan, isAnswer);
  if (!priced.failed())
    result.program = std::move(*priced);
  return priced.getOutcome();
}

/// Prices a plan; where it is the caller's answer, lists meanwhile how the blocks lie.
static Outcome priceComplete(mlir::ModuleOp module, plan::Plan &plan, PricedModule &result,
                             bool isAnswer, unsigned threads) {
  Outcome priced = Outcome::success();
  doConcurrently(isAnswer ? 2 : 1, threads, [&](size_t work) {
    if (work == 0)
      priced = price(module, plan, result, isFromFile(plan), isAnswer);
    else
      result.blocks = listBlocks(result.planned);
  });
  return priced;
}

/// Plans a module; with `fitting`, which has a copy of it, for devices that it must fit.
static Outcome planAsked(mlir::ModuleOp module, PlanFitting *fitting, plan::Plan &plan,
                         PricedModule &result, const PlanSearch &trials, bool isAnswer) {
  bool fromFile = isFromFile(plan), isComplete = fromFile || plan.has_prediction();
  plan::Plan asked = plan;
  std::optional<PlannedModule> held =
      fitting && !isComplete ? planHeld(module, fitting->getOpen(), plan, trials) : std::nullopt;
  HeldDiagnostics said(*module.getContext());
  Result<PlannedModule> planned =
      held ? Result<PlannedModule>(std::move(*held))
           : runPlanning(module, plan, isComplete, fromFile, trials, &result.counted);
  bool isRefused = planned.failed() && planned.getOutcome().getError() == ErrorKind::Infeasible;
  if (isRefused && fitting && !isComplete)
    return fitting->takeSmallest(trials.withAsked(asked), plan, result, [&] {
      said.emit();
      return planned.getOutcome();
    });
  said.emit();
  if (planned.failed())
    return planned.getOutcome();
  result.planned = std::move(*planned);
  if (!trials.getCandidates().empty() && plan.has_prediction())
    plan.mutable_prediction()->set_search_seconds(trials.getSeconds());
  if (plan.cluster().empty() || (isComplete && !fromFile))
    return Outcome::success();
  return priceComplete(module, plan, result, isAnswer, trials.getThreads());
}

/// Looks at the hosts where they keep something; prices the program for that where it was not.
static Outcome checkKept(mlir::ModuleOp module, plan::Plan &plan, PricedModule &result,
                         bool isAnswer) {
  if (plan.training().offload() != plan::Training::OFFLOAD_OPTIMIZER || plan.cluster().empty())
    return Outcome::success();
  if (!result.program) {
    Result<SimulatedProgram> priced = pricePlanned(module, plan, isAnswer);
    if (priced.failed())
      return priced.getOutcome();
    result.program = std::move(*priced);
  }
  return checkHosts(*module.getContext(), plan, result.program->simulation);
}

Result<PricedModule> weft::planModule(mlir::ModuleOp module, plan::Plan &plan, PlanSearch *search,
                                      bool isAnswer) {
  std::string print = fingerprintOf(module);
  bool fromFile = isFromFile(plan);
  if (fromFile && plan.model().fingerprint() != print)
    return fail(*module.getContext(), ErrorKind::BadInput,
                "the plan is of another model, or of other sizes: expected fingerprint " +
                    plan.model().fingerprint() + ", got: " + print);
  PlanSearch own;
  PlanSearch &trials = search ? *search : own;
  std::optional<PlanFitting> fitting;
  if (!fromFile && !plan.cluster().empty())
    fitting.emplace(module, trials, isAnswer);
  PricedModule result;
  if (Outcome planned =
          planAsked(module, fitting ? &*fitting : nullptr, plan, result, trials, isAnswer);
      planned.failed())
    return planned;
  if (fitting && !describeExcess(plan).empty())
    if (Outcome fits = fitting->makeFit(plan, result); fits.failed())
      return fits;
  if (Outcome kept = checkKept(module, plan, result, isAnswer); kept.failed())
    return kept;
  plan.mutable_model()->set_fingerprint(print);
  if (!plan.cluster().empty())
    trials.confirm(plan);
  return result;
}

//===----------------------------------------------------------------------===//
// Where the model lies
//===----------------------------------------------------------------------===//

void weft::noteModel(plan::Plan &plan, const std::string &modelPath, const std::string &planPath,
                     const ModelOptions &load) {
  std::string folder = fs::path(planPath).parent_path().string();
  std::error_code error;
  plan.mutable_model()->set_path(relativeTo(modelPath, folder.empty() ? "." : folder));
  plan.mutable_model()->set_absolute_path(
      fs::absolute(modelPath, error).lexically_normal().string());
  if (!load.carry.empty())
    plan.mutable_model()->clear_carry();
  for (const std::string &pair : load.carry)
    plan.mutable_model()->add_carry(pair);
  if (!load.dtype.empty())
    plan.mutable_model()->set_dtype(load.dtype);
  if (!load.dims.empty())
    plan.mutable_model()->clear_dims();
  for (const std::string &text : load.dims) {
    auto [name, size] = llvm::StringRef(text).rsplit('=');
    plan::DimBinding *dim = plan.mutable_model()->add_dims();
    dim->set_name(name.str());
    dim->set_size(std::stoll(size.str()));
  }
}

std::string weft::findModel(const plan::Plan &plan, const std::string &planPath) {
  std::error_code error;
  fs::path relative = fs::weakly_canonical(planPath, error).parent_path() / plan.model().path();
  if (!plan.model().path().empty() && fs::exists(relative, error))
    return relative.string();
  return fs::exists(plan.model().absolute_path(), error) ? plan.model().absolute_path() : "";
}

Result<mlir::OwningOpRef<mlir::ModuleOp>> weft::loadOpen(mlir::MLIRContext &context,
                                                         PlannedModel &model) {
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = loadModel(context, model.path, model.load);
  if (module.failed())
    return module.getOutcome();
  if (Outcome trained = trainPlanned(**module, model.plan); trained.failed())
    return trained;
  return module;
}

Result<PlannedModel> weft::readPlanned(mlir::MLIRContext &context, const std::string &planPath,
                                       const std::string &model, ModelOptions load) {
  Result<plan::Plan> plan = preparePlan(context, {planPath, "", "", 0, {}, {}, {}, {}}, load);
  if (plan.failed())
    return plan.getOutcome();
  std::string path = model.empty() ? findModel(*plan, planPath) : model;
  if (path.empty())
    return fail(context, ErrorKind::BadInput,
                "the plan's model '" + plan->model().path() +
                    "' is not there; name it with --model");
  PlannedModel result{std::move(*plan), {}, {}, path, load};
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = loadOpen(context, result);
  if (module.failed())
    return module.getOutcome();
  result.module = std::move(*module);
  Result<PricedModule> planned = planModule(*result.module, result.plan);
  if (planned.failed())
    return planned.getOutcome();
  result.planned = std::move(planned->planned);
  if (std::string excess = describeExcess(result.plan); !excess.empty())
    mlir::emitWarning(mlir::UnknownLoc::get(&context))
        << "the plan's program " << excess << ": weft compile refuses it; plan again";
  return result;
}
