//===- StepTrials.cpp - what a step would take, by the search's prices ----===//

#include "driver/StepTrials.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Search/Extrapolate.h"
#include "compiler/Search/SearchDecisions.h"
#include "driver/Planning.h"
#include "passes/Pipelines/Pipelines.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// So many layers are looked at first: less than that no layer is far from both ends. With more
/// than the other number a model is tried as it is.
static constexpr uint32_t firstLength = 7, lastLength = 16;
/// Rounds of the solver: a second one hardly changes which mesh is best.
static constexpr int64_t trialRounds = 1;

/// The step of a model, and what it asks of the search.
struct StepTrials::Step {
  OwningOpRef<ModuleOp> module;
  PlannedModule planned;
  ShardingProblem problem;
};

/// What is known of a mesh from one step to the next.
struct StepTrials::MeshSearch {
  MeshSearch(const plan::Mesh &mesh, const ClusterModel &cluster)
      : shape(getMeshShape(mesh)), prices(shape, cluster) {}

  MeshShape shape;
  MeshPrices prices;
  FormTables tables;
};

StepTrials::~StepTrials() = default;

StepTrials::StepTrials(ModuleOp module, const plan::Plan &plan,
                       const std::vector<plan::Mesh> &meshes)
    : context(module.getContext()), meshes(meshes), length(firstLength) {
  std::string problem;
  if (std::optional<cluster::Cluster> found = resolveCluster(plan.cluster(), problem))
    cluster = makeClusterModel(*found);
  // Stages of optimizer sharding are pins by name that follow from a search of the whole.
  bool isOpen = plan.decisions().empty() && plan.cuts().empty() && plan.meshes_size() == 1 &&
                plan.training().parameters().empty() && plan.training().optimizer_sharding() == 0 &&
                module.getOps<dist::MeshOp>().empty();
  if (!cluster || !isOpen)
    return;
  shortener.emplace(module, /*least=*/firstLength + 2);
  if (shortener->getRuns().empty()) {
    shortener.reset();
    return;
  }
  for (const plan::Mesh &mesh : meshes) {
    bool isThere = getMeshShape(mesh).devices() <= cluster->groups.front().getNumDevices();
    searches.push_back(isThere ? std::make_unique<MeshSearch>(mesh, *cluster) : nullptr);
  }
}

/// Makes the step of a model as a plan asks for it. Null where it cannot be made.
std::unique_ptr<StepTrials::Step> StepTrials::makeStep(ModuleOp model,
                                                       const plan::Plan &asked) const {
  auto step = std::make_unique<Step>();
  step->module = model.clone();
  if (asked.has_training() &&
      trainModule(*step->module, asked.training(), /*fromFile=*/false).failed())
    return nullptr;
  auto state = std::make_shared<PlanState>();
  state->plan = asked;
  PassManager passes(model.getContext());
  passes.enableVerifier(false);
  buildPinPipeline(passes, state);
  if (failed(passes.run(*step->module)))
    return nullptr;
  std::optional<PlannedModule> planned = PlannedModule::get(*step->module);
  if (!planned || planned->parts.size() != 1)
    return nullptr;
  step->planned = std::move(*planned);
  step->problem = makeProblem(step->planned.parts.front());
  return step;
}

/// The step of a short model, with the numbers of the whole. Null where that is not to be had.
std::unique_ptr<StepTrials::Step> StepTrials::makeShortStep(const plan::Plan &asked) {
  ArrayRef<BlockRun> runs = shortener->getRuns();
  for (; length <= lastLength; ++length) {
    auto lengthOf = [&](const BlockRun &run) { return std::min(run.count, length); };
    auto make = [&](std::optional<size_t> longer) -> std::unique_ptr<Step> {
      SmallVector<uint32_t> lengths(llvm::map_range(runs, lengthOf));
      if (longer)
        ++lengths[*longer];
      OwningOpRef<ModuleOp> model = shortener->shorten(lengths);
      return model ? makeStep(*model, asked) : nullptr;
    };
    std::unique_ptr<Step> base = make(std::nullopt);
    std::vector<std::unique_ptr<Step>> longer;
    std::vector<FurtherLayers> further;
    for (auto [index, run] : llvm::enumerate(runs)) {
      if (run.count <= length)
        continue;
      longer.push_back(base ? make(index) : nullptr);
      if (!longer.back())
        return nullptr;
      further.push_back({&longer.back()->problem, double(run.count - length)});
    }
    if (!base || extrapolate(base->problem, further))
      return base;
  }
  return nullptr;
}

/// Tells the search what may be expected on a mesh. Whether it fits.
bool StepTrials::attempt(const Step &step, const plan::Plan &trial, MeshSearch &mesh,
                         PlanSearch &search) {
  SearchOptions options;
  options.rounds = trialRounds;
  options.timeLimit = std::min(options.timeLimit, search.getRemaining());
  options.memoryLimit = getMemoryLimit(trial, *cluster);
  options.secondsLimit = search.getSecondsLimit();
  ShardingAnswer answer = searchShardings(step.problem, mesh.prices, mesh.tables, options);
  if (answer.splits.empty()) {
    // What is only slower than others is no plan worth to be told of.
    if (answer.status == solver::Status::Infeasible || options.secondsLimit == 0)
      search.expect(trial, PlanStatus::Infeasible);
    return false;
  }
  plan::Plan expected = trial;
  plan::Prediction &prediction = *expected.mutable_prediction();
  prediction.set_step_seconds(answer.seconds);
  prediction.set_memory_bytes(answer.memory);
  prediction.set_memory_limit_bytes(options.memoryLimit);
  search.expect(std::move(expected), PlanStatus::Applied);
  return true;
}

std::optional<bool> StepTrials::attempt(const plan::Plan &asked, PlanSearch &search) {
  if (!shortener)
    return std::nullopt;
  if (llvm::count_if(meshes, [&](const plan::Mesh &) { return search.skip(); }) > 0)
    return false;
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  std::unique_ptr<Step> step = makeShortStep(withMesh(asked, meshes.front()));
  if (!step)
    return std::nullopt;
  bool fits = false;
  for (auto [mesh, known] : llvm::zip_equal(meshes, searches)) {
    plan::Plan trial = withMesh(asked, mesh);
    if (!known)
      search.expect(std::move(trial), PlanStatus::Infeasible);
    else if (!search.skip())
      fits |= attempt(*step, trial, *known, search);
  }
  return fits;
}
