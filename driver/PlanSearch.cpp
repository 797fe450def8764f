//===- PlanSearch.cpp - plans that were tried -----------------------------===//

#include "driver/PlanSearch.h"

#include "driver/Simulation.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Planning/PlanState.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace mlir;
using namespace weft;

/// Plans whose price is so much more than the cheapest are not simulated: the prices agree with the
/// simulator better than that on which plan is better.
static constexpr double shortlistRange = 1.5;

/// How often the search is held to less than may be held, and to what part of what would do.
static constexpr int maxTightened = 3;
static constexpr double tightenedShare = 0.98;

/// s that a search is given in any case.
static constexpr double leastTime = 0.1;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

bool Candidate::fits() const {
  const plan::Prediction &expected = plan.prediction();
  bool isTooMuch = isSimulated() && expected.memory_limit_bytes() > 0 &&
                   expected.allocated_bytes() > expected.memory_limit_bytes();
  return status == PlanStatus::Applied && !isTooMuch;
}

double Candidate::getSeconds() const {
  return isSimulated() ? plan.prediction().simulated_seconds() : plan.prediction().step_seconds();
}

bool Candidate::isBetterThan(const Candidate &other) const {
  auto key = [](const Candidate &candidate) {
    return std::tuple(!candidate.fits(), !candidate.isSimulated(), candidate.getSeconds(),
                      candidate.plan.prediction().memory_bytes(), candidate.number);
  };
  return key(*this) < key(other);
}

bool Candidate::isCheaperThan(const Candidate &other) const {
  auto key = [](const Candidate &candidate) {
    return std::tuple(candidate.status != PlanStatus::Applied,
                      candidate.plan.prediction().step_seconds(),
                      candidate.plan.prediction().memory_bytes(), candidate.number);
  };
  return key(*this) < key(other);
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

double PlanSearch::getSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double PlanSearch::getRemaining() const {
  return timeBudget > 0 ? std::max(0.0, timeBudget - getSeconds()) : INFINITY;
}

plan::Plan weft::withoutSearch(plan::Plan plan) {
  plan::Plan open = plan;
  open.clear_decisions();
  open.clear_splits();
  open.clear_prediction();
  for (const plan::Decision &decision : plan.decisions())
    if (decision.origin() == plan::USER)
      *open.add_decisions() = decision;
  return open;
}

plan::Plan weft::withMesh(plan::Plan plan, const plan::Mesh &mesh) {
  *plan.mutable_meshes(0) = mesh;
  for (plan::Decision &decision : *plan.mutable_decisions())
    decision.mutable_sharding()->set_mesh(mesh.name());
  return plan;
}

/// Runs the passes that plan a module, and says nothing.
static bool runQuietly(ModuleOp module, std::shared_ptr<PlanState> state) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  PassManager passes(module.getContext());
  buildPlanPipeline(passes, state);
  if (succeeded(passes.run(module)))
    return true;
  if (state->status == PlanStatus::Applied)
    state->status = PlanStatus::Infeasible;
  return false;
}

/// Searches the splits of a copy of the module.
static Candidate searchSplits(ModuleOp module, const plan::Plan &plan, bool leastMemory,
                              double timeLimit) {
  auto state = std::make_shared<PlanState>();
  state->plan = plan;
  state->isTrial = true;
  state->leastMemory = leastMemory;
  state->timeLimit = std::max(timeLimit, leastTime);
  OwningOpRef<ModuleOp> copy(module.clone());
  bool isPlanned = runQuietly(*copy, state);
  return {isPlanned ? state->plan : plan, state->status};
}

bool PlanSearch::skip() {
  bool isOver = getRemaining() <= 0 && !candidates.empty();
  skipped += isOver;
  return isOver;
}

const Candidate *PlanSearch::attempt(ModuleOp module, const plan::Plan &plan, bool leastMemory) {
  if (skip())
    return nullptr;
  Candidate found = searchSplits(module, plan, leastMemory, getRemaining());
  found.number = candidates.size();
  candidates.push_back(std::move(found));
  return &candidates.back();
}

void PlanSearch::expect(plan::Plan plan, PlanStatus status) {
  candidates.push_back({std::move(plan), status, candidates.size(), /*isOpen=*/true});
}

double PlanSearch::getSecondsLimit() const {
  double least = INFINITY;
  for (const Candidate &candidate : candidates)
    if (candidate.status == PlanStatus::Applied)
      least = std::min(least, candidate.plan.prediction().step_seconds());
  return std::isfinite(least) ? shortlistRange * least : 0;
}

/// Searches the splits of what was only expected.
void PlanSearch::complete(Candidate &candidate, MakeModule makeModule) {
  plan::Plan asked = withoutSearch(candidate.plan);
  OwningOpRef<ModuleOp> module = makeModule(asked);
  Candidate found{asked};
  if (module)
    found = searchSplits(*module, asked, /*leastMemory=*/false, getRemaining());
  found.number = candidate.number;
  candidate = std::move(found);
}

std::optional<PlannedModule> weft::applyQuietly(ModuleOp module, const plan::Plan &plan) {
  auto state = std::make_shared<PlanState>();
  state->plan = plan;
  state->isWhole = true;
  if (!runQuietly(module, state))
    return std::nullopt;
  return std::move(state->planned);
}

Outcome weft::notePrice(ModuleOp planned, plan::Plan &plan) {
  Result<cluster::Cluster> cluster = findCluster(*planned.getContext(), plan.cluster());
  if (cluster.failed())
    return cluster.getOutcome();
  ScopedDiagnosticHandler quiet(planned.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error); // lowered once more
  });
  Result<Simulation> simulation = simulatePlanned(planned, *cluster);
  if (simulation.failed())
    return simulation.getOutcome();
  int64_t most = 0;
  for (const Simulation::RankClass &rankClass : simulation->classes)
    most = std::max(most, rankClass.peakBytes);
  plan.mutable_prediction()->set_simulated_seconds(simulation->seconds);
  plan.mutable_prediction()->set_allocated_bytes(static_cast<double>(most));
  return Outcome::success();
}

/// Notes the price of a plan on the module that it is for. False where it cannot be lowered.
static bool simulateQuietly(OwningOpRef<ModuleOp> module, plan::Plan &plan) {
  if (!module)
    return false;
  ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
  return applyQuietly(*module, plan) && !notePrice(*module, plan).failed();
}

void PlanSearch::settle(MakeModule makeModule) {
  std::sort(candidates.begin(), candidates.end(),
            [](const auto &a, const auto &b) { return a.isCheaperThan(b); });
  bool hasOne = false;
  double limit = getSecondsLimit();
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate &candidate = candidates[i];
    bool isFar = candidate.plan.prediction().step_seconds() > limit;
    if (candidate.status != PlanStatus::Applied || (hasOne && (i >= shortlist || isFar)) ||
        (i > 0 && getRemaining() <= 0))
      break;
    if (candidate.isOpen)
      complete(candidate, makeModule);
    if (candidate.status == PlanStatus::Applied &&
        !simulateQuietly(makeModule(candidate.plan), candidate.plan))
      candidate.status = PlanStatus::Infeasible;
    hasOne |= candidate.fits();
  }
  tighten(makeModule);
}

void PlanSearch::settle(const plan::Plan &plan, MakeModule makeModule) {
  candidates.push_back({plan, PlanStatus::Applied, candidates.size()});
  tighten(makeModule);
}

/// Tries a candidate again with a lower limit of what the search counts.
void PlanSearch::retry(size_t number, double limit, MakeModule makeModule) {
  plan::Plan asked = withoutSearch(candidates[number].plan), trial = asked;
  double bound = candidates[number].plan.prediction().memory_limit_bytes();
  trial.set_memory_limit(static_cast<int64_t>(limit));
  OwningOpRef<ModuleOp> module = makeModule(trial);
  if (!module || !attempt(*module, trial))
    return;
  Candidate &candidate = candidates.back();
  candidate.plan.set_memory_limit(asked.memory_limit());
  if (candidate.status != PlanStatus::Applied)
    return;
  candidate.plan.mutable_prediction()->set_memory_limit_bytes(bound);
  if (!simulateQuietly(makeModule(candidate.plan), candidate.plan))
    candidate.status = PlanStatus::Infeasible;
}

void PlanSearch::tighten(MakeModule makeModule) {
  auto order = [&] {
    std::sort(candidates.begin(), candidates.end(),
              [](const auto &a, const auto &b) { return a.isBetterThan(b); });
  };
  order();
  double limit = 0;
  for (int round = 0; round < maxTightened; ++round) {
    if (candidates.empty() || candidates.front().fits() ||
        candidates.front().status != PlanStatus::Applied)
      return;
    const plan::Prediction &best = candidates.front().plan.prediction();
    limit = (round == 0 ? best.memory_limit_bytes() : limit) * tightenedShare *
            best.memory_limit_bytes() / best.allocated_bytes();
    size_t number = std::min(shortlist, candidates.size());
    for (size_t i = 0; i < number; ++i)
      if (candidates[i].status == PlanStatus::Applied && candidates[i].isSimulated())
        retry(i, limit, makeModule);
    order();
  }
}
