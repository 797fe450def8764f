//===- StepTrials.cpp - what a step would take, quickly -------------------===//

#include "driver/StepTrials.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Plan/OperationSplits.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "driver/Compile.h"
#include "driver/Concurrently.h"
#include "driver/Diagnostics.h"
#include "driver/MemoryProfile.h"
#include "driver/Simulation.h"
#include "passes/Pipelines/Pipelines.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace weft;

/// Rounds of the solver, after which a mesh is worth more of them only where a step may still take
/// no longer than the best by this factor: they hardly change which mesh is best.
static constexpr int64_t trialRounds = 4, mostRounds = 8, roundWork = 5'000'000;
static constexpr double hopefulRange = 1.02;

/// Meshes that are tried together, on one thread or more: the next ones need not be looked at where
/// they are much slower than these.
static constexpr size_t meshesAtOnce = 2;

/// A step that holds less than this part of what may be held would be no faster if it held more.
static constexpr double ampleShare = 0.9;

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
                       const std::vector<plan::Mesh> &meshes, const StepTrials *others)
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
  model = others ? others->model : std::make_shared<ShortModel>(module);
  if (!model || !model->repeats()) {
    model.reset();
    return;
  }
  int64_t devices = cluster->groups.front().getNumDevices();
  std::vector<MeshShape> shapes;
  for (const plan::Mesh &mesh : meshes) {
    bool isThere = shapes.emplace_back(getMeshShape(mesh)).devices() <= devices;
    searches.push_back(isThere ? std::make_unique<MeshSearch>(mesh, *cluster) : nullptr);
  }
  order.emplace(std::move(shapes), devices);
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
bool StepTrials::note(ShardingAnswer answer, const SearchOptions &options, plan::Plan trial,
                      PlanSearch &search) {
  if (answer.splits.empty()) {
    // What is only slower than others is no plan worth to be told of.
    if (answer.status == solver::Status::Infeasible || options.secondsLimit == 0)
      search.expect(std::move(trial), PlanStatus::Infeasible);
    return false;
  }
  predict(answer, getMemoryLimit(trial, *cluster), trial);
  std::shared_ptr<const ShardingAnswer> kept;
  if (!options.leastMemory)
    kept = std::make_shared<ShardingAnswer>(std::move(answer));
  search.expect(std::move(trial), PlanStatus::Applied, std::move(kept));
  return true;
}

/// Tries some meshes at once: what one of them takes bounds none of the others. Whether one fits.
bool StepTrials::attempt(const StepProblem &step, const plan::Plan &asked,
                         llvm::ArrayRef<size_t> numbers, PlanSearch &search, bool leastMemory) {
  SearchOptions options;
  options.gap = trialGap;
  options.rounds = leastMemory ? trialRounds : mostRounds;
  options.roundWork = roundWork;
  options.firstRounds = trialRounds;
  options.hopefulSeconds = hopefulRange * search.getLeastSeconds();
  options.timeLimit = std::min(options.timeLimit, search.getRemaining());
  options.leastMemory = leastMemory;
  countStages(asked, options);
  options.memoryLimit = leastMemory ? 0 : getMemoryLimit(asked, *cluster);
  options.secondsLimit = leastMemory ? 0 : search.getSecondsLimit();
  options.threads = search.getThreads(); // those that one mesh leaves when it is done, too
  std::vector<ShardingAnswer> answers(numbers.size());
  doConcurrently(numbers.size(), search.getThreads(), [&](size_t i) {
    if (MeshSearch *mesh = searches[numbers[i]].get())
      answers[i] = searchShardings(step.problem, mesh->prices, mesh->tables, options);
    else
      answers[i].status = solver::Status::Infeasible;
  });
  bool fits = false;
  for (auto [answer, number] : llvm::zip_equal(answers, numbers)) {
    bool isSlow = answer.splits.empty() && answer.status != solver::Status::Infeasible;
    bool isAmple = !answer.splits.empty() && !leastMemory &&
                   (options.memoryLimit <= 0 || answer.memory < ampleShare * options.memoryLimit);
    order->note(number, isSlow ? INFINITY : answer.seconds, isAmple ? answer.lowerBound : 0);
    fits |= note(std::move(answer), options, withMesh(asked, meshes[number]), search);
  }
  return fits;
}

bool StepTrials::isMakable(const plan::Plan &asked) {
  QuietDiagnostics quiet(context);
  return model && llvm::any_of(meshes, [&](const plan::Mesh &mesh) {
           return model->isMakable(withMesh(asked, mesh));
         });
}

std::optional<bool> StepTrials::attempt(const plan::Plan &asked, PlanSearch &search,
                                        bool leastMemory, llvm::function_ref<void()> onFit) {
  if (!model)
    return std::nullopt;
  if (llvm::count_if(meshes, [&](const plan::Mesh &) { return search.skip(); }) > 0)
    return false;
  QuietDiagnostics quiet(context);
  std::shared_ptr<const ShortSteps> made =
      model->make(withMesh(asked, meshes.front()), search.getThreads());
  if (!made)
    return isMakable(asked) ? std::nullopt : std::optional(false);
  const StepProblem &step = *made->steps.front();
  SearchOptions held;
  countStages(asked, held);
  triedStep = {
      getLeastBytes(step.problem, getMeshShape(meshes.front()).devices(), held.residentShare),
      getMemoryLimit(asked, *cluster), BatchDimensions(*step.problem.graph).size()};
  std::vector<size_t> distinct = order->begin(*step.problem.graph, asked.training());
  bool fits = false;
  for (auto next = distinct.begin(); next != distinct.end();) {
    SmallVector<size_t> numbers;
    for (; next != distinct.end() && numbers.size() < meshesAtOnce; ++next)
      if (leastMemory
              ? order->isRefinement(*next)
              : order->isHopeless(*next, search.getLeastSeconds(), search.getSecondsLimit()))
        order->note(*next, INFINITY);
      else if (!search.skip())
        numbers.push_back(*next);
    if (attempt(step, asked, numbers, search, leastMemory) && !std::exchange(fits, true) && onFit)
      onFit();
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
/// What a program takes, and what a rank of it holds. Only of the shortest are seconds known.
struct ProgramPrice {
  double seconds = 0;
  MemoryProfile memory;
};
} // namespace

struct weft::ShortPrograms {
  std::shared_ptr<const ShortSteps> made;
  KnownAnswer known;                               ///< to the shortest of them
  std::vector<std::optional<ProgramPrice>> prices; ///< by step
};

/// A candidate on its way.
struct StepTrials::Simulated {
  Candidate &candidate;
  MeshSearch *mesh;
  plan::Plan found;
  std::shared_ptr<ShortPrograms> programs;
};

/// Splits a step, whose operations are of these kinds, as the answer to another one says. Whether
/// that can be.
static bool applyAnswer(PlacedStep &step, ArrayRef<uint64_t> kinds, const KnownAnswer &known) {
  plan::Plan chosen;
  FunctionNames names;
  const PlannedPart &part = step.planned.parts.front();
  std::optional<ShardingAnswer> answer = carryOver(known, part.function->graph, kinds);
  if (!answer)
    return false;
  addDecisions(part, *answer, names, chosen);
  ModuleOp module = *step.module;
  std::vector<plan::Decision> decisions(chosen.decisions().begin(), chosen.decisions().end());
  if (std::max(pinDecisions(module, decisions, names), applySplits(module, chosen, names)) !=
          PlanStatus::Applied ||
      failed(step.planned.readAgain()))
    return false;
  step.planned.propagate();
  step.planned.annotate();
  return true;
}

/// Lowers and simulates the shortest step.
static std::optional<ProgramPrice> simulate(ModuleOp planned, const cluster::Cluster &cluster) {
  ProgramPrice price;
  Result<SimulatedProgram> program = simulateInPlace(planned, cluster, &price.memory);
  if (program.failed())
    return std::nullopt;
  price.seconds = program->simulation.seconds;
  price.memory.note(program->executable);
  return price;
}

/// Lowers a longer step as far as tells how much more it holds.
static std::optional<ProgramPrice> measureMemory(ModuleOp planned) {
  ProgramPrice price;
  if (lowerModule(planned, {&price.memory, /*verifies=*/false, selectPhase}).failed())
    return std::nullopt;
  return price;
}

/// Makes the short steps, or takes what is known of them. None where the whole model is needed.
std::unique_ptr<StepTrials::Simulated> StepTrials::makeSimulated(Candidate &candidate,
                                                                 Programs which, unsigned threads) {
  MeshSearch *mesh = model ? findSearch(candidate.plan.meshes(0)) : nullptr;
  if (!mesh)
    return nullptr;
  auto simulated = std::make_unique<Simulated>(
      Simulated{candidate, mesh, withoutSearch(candidate.plan), candidate.programs});
  std::shared_ptr<const ShortSteps> made = model->make(simulated->found, threads);
  if (!made)
    return nullptr;
  // What all programs of a candidate are told by is searched to the end.
  bool isKnown = simulated->programs &&
                 (which == Programs::Shortest || simulated->programs->known.answer.isThorough);
  if (!isKnown) {
    simulated->programs = std::make_shared<ShortPrograms>();
    simulated->programs->prices.resize(made->steps.size());
    simulated->programs->made = std::move(made);
  }
  return simulated;
}

/// Takes the answer that is known, or was found when the mesh was tried: to the same step. False
/// where none was kept.
bool StepTrials::takeAnswer(Simulated &simulated, Programs which) const {
  ShortPrograms &programs = *simulated.programs;
  double limit = getMemoryLimit(simulated.found, *cluster);
  if (programs.known.problem) {
    predict(programs.known.answer, limit, simulated.found);
    return true;
  }
  const ShardingProblem &problem = programs.made->steps.front()->problem;
  const ShardingAnswer *answer = simulated.candidate.answer.get();
  if (!answer || answer->splits.size() != problem.graph->nodes.size() ||
      (which == Programs::All && !answer->isThorough))
    return false;
  programs.known = {&problem, *answer};
  predict(*answer, limit, simulated.found);
  return true;
}

/// Searches splits: on each mesh in order, since what is known of one grows with every search.
void StepTrials::search(llvm::ArrayRef<Simulated *> some, Programs which, double timeLimit,
                        unsigned threads) {
  llvm::MapVector<MeshSearch *, SmallVector<Simulated *>> byMesh;
  for (Simulated *simulated : some)
    if (!takeAnswer(*simulated, which))
      byMesh[simulated->mesh].push_back(simulated);
  doConcurrently(byMesh.size(), threads, [&](size_t i) {
    for (Simulated *simulated : (byMesh.begin() + i)->second) {
      SearchOptions options;
      options.gap = trialGap;
      options.rounds = mostRounds;
      options.roundWork = roundWork;
      options.timeLimit = std::min(options.timeLimit, timeLimit);
      options.threads = byMesh.size() > 1 ? 1 : threads;
      options.memoryLimit = getMemoryLimit(simulated->found, *cluster);
      const ShardingProblem &problem = simulated->programs->made->steps.front()->problem;
      MeshSearch &mesh = *simulated->mesh;
      KnownAnswer &known = simulated->programs->known;
      known = {&problem, searchShardings(problem, mesh.prices, mesh.tables, options)};
      if (known.answer.splits.empty())
        simulated->candidate.status = PlanStatus::Infeasible;
      else
        predict(known.answer, options.memoryLimit, simulated->found);
    }
  });
}

/// Lowers the short steps, and simulates the first, or does so with that alone, where it was not
/// done before.
void StepTrials::price(llvm::ArrayRef<Simulated *> some, Programs which, unsigned threads) {
  std::vector<std::pair<Simulated *, size_t>> work;
  for (Simulated *simulated : some)
    for (auto [step, known] : llvm::enumerate(simulated->programs->prices))
      if (!known && (step == 0 || which == Programs::All))
        work.push_back({simulated, step});
  doConcurrently(work.size(), threads, [&](size_t i) {
    auto [simulated, step] = work[i];
    ShortPrograms &programs = *simulated->programs;
    std::unique_ptr<PlacedStep> placed = model->place(simulated->found, step);
    if (!placed || !applyAnswer(*placed, programs.made->steps[step]->problem.kinds, programs.known))
      return;
    ModuleOp module = *placed->module;
    programs.prices[step] = step == 0 ? ::simulate(module, *description) : measureMemory(module);
  });
}

/// s that a step takes as its shortest program does. That of programs that differ by one layer
/// would tell what a layer takes; but how well each of them hides what it sends differs by more,
/// which counts as often as there are layers.
static double extendSeconds(const ShortPrograms &programs) {
  return programs.known.answer.growth * programs.prices.front()->seconds;
}

/// Notes in the candidate what its step takes. False where that is not known.
static bool noteSimulated(const ShortPrograms &programs, plan::Prediction &prediction) {
  if (!llvm::all_of(programs.prices, [](const auto &price) { return price.has_value(); }))
    return false;
  std::vector<MemoryProfile> profiles;
  for (const std::optional<ProgramPrice> &price : programs.prices)
    profiles.push_back(price->memory);
  prediction.set_simulated_seconds(extendSeconds(programs));
  prediction.set_allocated_bytes(extendAllocated(profiles, programs.made->shares));
  return true;
}

/// The same of candidates of one training.
std::vector<bool> StepTrials::simulateAlike(llvm::ArrayRef<Candidate *> candidates, Programs which,
                                            double timeLimit, unsigned threads) {
  std::vector<std::unique_ptr<Simulated>> all;
  SmallVector<Simulated *> some;
  for (Candidate *candidate : candidates)
    if (Simulated *simulated = all.emplace_back(makeSimulated(*candidate, which, threads)).get())
      some.push_back(simulated);
  search(some, which, timeLimit, threads);
  llvm::erase_if(some,
                 [](Simulated *each) { return each->candidate.status != PlanStatus::Applied; });
  price(some, which, threads);
  std::vector<bool> isDone(all.size(), false);
  for (auto [number, each] : llvm::enumerate(all)) {
    if (!each)
      continue;
    Candidate &candidate = each->candidate;
    const std::optional<ProgramPrice> &shortest = each->programs->prices.front();
    isDone[number] = candidate.status != PlanStatus::Applied || shortest;
    if (candidate.status != PlanStatus::Applied || !shortest)
      continue;
    candidate.programs = each->programs;
    candidate.expectedSeconds = extendSeconds(*each->programs);
    if (which == Programs::Shortest)
      continue;
    isDone[number] = noteSimulated(*each->programs, *each->found.mutable_prediction());
    if (!isDone[number])
      continue;
    candidate.plan = std::move(each->found);
    candidate.known = {each->programs, &each->programs->known};
  }
  return isDone;
}

std::vector<bool> StepTrials::simulate(llvm::ArrayRef<Candidate *> candidates, Programs which,
                                       double timeLimit, unsigned threads) {
  QuietDiagnostics quiet(context);
  // Steps are made of one training at a time.
  std::map<std::string, SmallVector<size_t>> byTraining;
  for (auto [number, candidate] : llvm::enumerate(candidates))
    byTraining[candidate->plan.training().SerializeAsString()].push_back(number);
  std::vector<bool> isDone(candidates.size(), false);
  for (const auto &[training, numbers] : byTraining) {
    SmallVector<Candidate *> alike;
    for (size_t number : numbers)
      alike.push_back(candidates[number]);
    std::vector<bool> done = simulateAlike(alike, which, timeLimit, threads);
    for (auto [number, is] : llvm::zip_equal(numbers, done))
      isDone[number] = is;
  }
  return isDone;
}
