//===- StepTrials.cpp - what a step would take, quickly -------------------===//

#include "driver/StepTrials.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/OperationSplits.h"
#include "compiler/Search/SearchDecisions.h"
#include "driver/Concurrently.h"
#include "driver/Simulation.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Planning/PlanState.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// Rounds of the solver: a second one hardly changes which mesh is best.
static constexpr int64_t trialRounds = 1;

/// Meshes that are tried together, on one thread or more: the next ones need not be looked at where
/// they are much slower than these.
static constexpr size_t meshesAtOnce = 2;

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
    : context(module.getContext()), meshes(meshes) {
  std::string problem;
  description = resolveCluster(plan.cluster(), problem);
  // Stages of optimizer sharding are pins by name that follow from a search of the whole.
  bool isOpen = plan.decisions().empty() && plan.cuts().empty() && plan.meshes_size() == 1 &&
                plan.training().parameters().empty() && plan.training().optimizer_sharding() == 0 &&
                module.getOps<dist::MeshOp>().empty();
  if (!description || !isOpen)
    return;
  cluster = makeClusterModel(*description);
  model.emplace(module);
  if (!model->repeats()) {
    model.reset();
    return;
  }
  for (const plan::Mesh &mesh : meshes) {
    bool isThere = getMeshShape(mesh).devices() <= cluster->groups.front().getNumDevices();
    searches.push_back(isThere ? std::make_unique<MeshSearch>(mesh, *cluster) : nullptr);
  }
}

//===----------------------------------------------------------------------===//
// By the search's prices
//===----------------------------------------------------------------------===//

static void predict(const ShardingAnswer &answer, double memoryLimit, plan::Plan &plan) {
  plan::Prediction &prediction = *plan.mutable_prediction();
  prediction.set_step_seconds(answer.seconds);
  prediction.set_lower_bound_seconds(answer.lowerBound);
  prediction.set_memory_bytes(answer.memory);
  prediction.set_memory_limit_bytes(memoryLimit);
}

/// Tells the search what may be expected on a mesh. Whether it fits.
bool StepTrials::note(const ShardingAnswer &answer, const SearchOptions &options, plan::Plan trial,
                      PlanSearch &search) {
  if (answer.splits.empty()) {
    // What is only slower than others is no plan worth to be told of.
    if (answer.status == solver::Status::Infeasible || options.secondsLimit == 0)
      search.expect(std::move(trial), PlanStatus::Infeasible);
    return false;
  }
  predict(answer, options.memoryLimit, trial);
  search.expect(std::move(trial), PlanStatus::Applied);
  return true;
}

/// The same of some meshes, which are searched at once: what one of them takes bounds none of the
/// others.
bool StepTrials::attempt(const StepProblem &step, const plan::Plan &asked,
                         llvm::ArrayRef<size_t> numbers, PlanSearch &search) {
  SearchOptions options;
  options.rounds = trialRounds;
  options.timeLimit = std::min(options.timeLimit, search.getRemaining());
  options.memoryLimit = getMemoryLimit(asked, *cluster);
  options.secondsLimit = search.getSecondsLimit();
  options.threads = 1;
  std::vector<ShardingAnswer> answers(numbers.size());
  doConcurrently(numbers.size(), search.getThreads(), [&](size_t i) {
    if (MeshSearch *mesh = searches[numbers[i]].get())
      answers[i] = searchShardings(step.problem, mesh->prices, mesh->tables, options);
    else
      answers[i].status = solver::Status::Infeasible;
  });
  bool fits = false;
  for (auto [answer, number] : llvm::zip_equal(answers, numbers))
    fits |= note(answer, options, withMesh(asked, meshes[number]), search);
  return fits;
}

std::optional<bool> StepTrials::attempt(const plan::Plan &asked, PlanSearch &search) {
  if (!model)
    return std::nullopt;
  if (llvm::count_if(meshes, [&](const plan::Mesh &) { return search.skip(); }) > 0)
    return false;
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  std::optional<ShortSteps> made = model->make(withMesh(asked, meshes.front()));
  if (!made)
    return std::nullopt;
  bool fits = false;
  for (size_t first = 0; first < meshes.size(); first += meshesAtOnce) {
    SmallVector<size_t> numbers;
    for (size_t i = first; i < std::min(first + meshesAtOnce, meshes.size()); ++i)
      if (!search.skip())
        numbers.push_back(i);
    fits |= attempt(*made->steps.front(), asked, numbers, search);
  }
  return fits;
}

//===----------------------------------------------------------------------===//
// By the simulator
//===----------------------------------------------------------------------===//

StepTrials::MeshSearch *StepTrials::findSearch(const plan::Mesh &mesh) const {
  for (auto [other, known] : llvm::zip_equal(meshes, searches))
    if (other.SerializeAsString() == mesh.SerializeAsString())
      return known.get();
  return nullptr;
}

namespace {
/// An answer with what it is to.
struct KnownStep {
  KnownAnswer known;
  std::unique_ptr<StepProblem> step;
};

/// What a program takes and a rank of it allocates.
struct ProgramPrice {
  double seconds = 0, bytes = 0;
};
} // namespace

/// Splits a step as the answer to another one says, lowers and simulates it.
static std::optional<ProgramPrice> simulate(StepProblem &step, const KnownAnswer &known,
                                            const cluster::Cluster &cluster) {
  plan::Plan chosen;
  if (!adoptDecisions(step.planned.parts.front(), step.problem, known, chosen))
    return std::nullopt;
  ModuleOp module = *step.module;
  std::vector<plan::Decision> decisions(chosen.decisions().begin(), chosen.decisions().end());
  if (std::max(pinDecisions(module, decisions), applySplits(module, chosen)) != PlanStatus::Applied)
    return std::nullopt;
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createPropagateShardings(std::make_shared<PlanState>()));
  if (failed(passes.run(module)))
    return std::nullopt;
  Result<SimulatedProgram> program = simulatePlanned(module, cluster);
  if (program.failed())
    return std::nullopt;
  return ProgramPrice{program->simulation.seconds,
                      static_cast<double>(program->simulation.getPeakBytes())};
}

bool StepTrials::simulate(Candidate &candidate, double timeLimit, unsigned threads) {
  MeshSearch *mesh = model ? findSearch(candidate.plan.meshes(0)) : nullptr;
  if (!mesh)
    return false;
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  plan::Plan found = withoutSearch(candidate.plan);
  std::optional<ShortSteps> made = model->make(found);
  if (!made)
    return false;
  SearchOptions options;
  options.timeLimit = std::min(options.timeLimit, timeLimit);
  options.threads = threads;
  options.memoryLimit = getMemoryLimit(found, *cluster);
  const ShardingProblem &problem = made->steps.front()->problem;
  auto shortest = std::make_shared<KnownStep>();
  KnownAnswer &known = shortest->known;
  known = {&problem, searchShardings(problem, mesh->prices, mesh->tables, options)};
  if (known.answer.splits.empty()) {
    candidate.status = PlanStatus::Infeasible;
    return true;
  }
  predict(known.answer, options.memoryLimit, found);
  std::vector<std::optional<ProgramPrice>> prices(made->steps.size());
  auto priceStep = [&](size_t i) { prices[i] = ::simulate(*made->steps[i], known, *description); };
  size_t alone = isFirst ? 1 : 0; // which loads the dialects that programs are lowered to
  isFirst = false;
  if (alone)
    priceStep(0);
  doConcurrently(prices.size() - alone, threads, [&](size_t i) { priceStep(alone + i); });
  ProgramPrice whole;
  for (auto [price, share] : llvm::zip_equal(prices, made->shares)) {
    if (!price)
      return false;
    whole.seconds += share * price->seconds;
    whole.bytes += share * price->bytes;
  }
  found.mutable_prediction()->set_simulated_seconds(whole.seconds);
  found.mutable_prediction()->set_allocated_bytes(whole.bytes);
  candidate.plan = std::move(found);
  shortest->step = std::move(made->steps.front());
  candidate.known = {shortest, &shortest->known};
  return true;
}
