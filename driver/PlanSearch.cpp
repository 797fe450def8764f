//===- PlanSearch.cpp - plans that were tried -----------------------------===//

#include "driver/PlanSearch.h"

#include "compiler/Sharding/SliceTokens.h"
#include "driver/Diagnostics.h"
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
static constexpr double shortlistRange = 1.25;

/// Whole models that are simulated, at most.
static constexpr size_t wholeShortlist = 4;

/// Candidates that are simulated together, on one thread or more.
static constexpr size_t simulatedAtOnce = 2;

/// Beside the best one another that is expected to take up to so many times as long is simulated,
/// too: the best may not fit.
static constexpr double nearRange = 1.02;

/// What simulated candidates took for their price, at least, others take at least this part of.
static constexpr double steadyRatio = 0.9;

/// Of what may be held, what a program may allocate by what short ones say: they are some
/// hundredths off.
static constexpr double expectedShare = 0.97;

/// s that a search is given in any case.
static constexpr double leastTime = 0.1;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

double Candidate::getAllowedBytes() const {
  return (isOpen ? expectedShare : 1) * plan.prediction().memory_limit_bytes();
}

bool Candidate::fits() const {
  const plan::Prediction &expected = plan.prediction();
  double limit = getAllowedBytes();
  bool isTooMuch = isSimulated() && limit > 0 && expected.allocated_bytes() > limit;
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

bool Candidate::isSmallerThan(const Candidate &other) const {
  auto key = [](const Candidate &candidate) {
    return std::tuple(candidate.status != PlanStatus::Applied,
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
  QuietDiagnostics quiet(module.getContext());
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  buildPlanPipeline(passes, state);
  if (succeeded(passes.run(module)))
    return true;
  if (state->status == PlanStatus::Applied)
    state->status = PlanStatus::Infeasible;
  return false;
}

/// Searches the splits of a module, which then is planned so.
static Candidate searchSplits(ModuleOp module, const plan::Plan &plan, bool leastMemory,
                              double timeLimit, const BytesByGroup &limits = {},
                              std::shared_ptr<PartAnswers> answers = nullptr) {
  auto state = std::make_shared<PlanState>();
  if (answers)
    state->answers = std::move(answers);
  state->limits = limits;
  state->plan = plan;
  state->isTrial = true;
  state->leastMemory = leastMemory;
  state->timeLimit = std::max(timeLimit, leastTime);
  bool isPlanned = runQuietly(module, state);
  Candidate found;
  found.plan = isPlanned ? state->plan : plan;
  found.status = state->status;
  found.counted = std::move(state->counted);
  return found;
}

bool PlanSearch::skip() {
  bool isOver = getRemaining() <= 0 && !candidates.empty();
  skipped += isOver;
  return isOver;
}

const Candidate *PlanSearch::attempt(ModuleOp module, const plan::Plan &plan, bool leastMemory) {
  if (skip())
    return nullptr;
  OwningOpRef<ModuleOp> copy(module.clone());
  Candidate found = searchSplits(*copy, plan, leastMemory, getRemaining());
  found.number = candidates.size();
  candidates.push_back(std::move(found));
  return &candidates.back();
}

bool PlanSearch::choosesAxis(const std::string &name) const {
  return asked && llvm::none_of(asked->axes(), [&](const plan::Axis &axis) {
           return axis.name() == name && axis.size() > 0;
         });
}

plan::Plan PlanSearch::withAsked(plan::Plan plan) const {
  return asked ? withMesh(std::move(plan), *asked) : plan;
}

void PlanSearch::expect(plan::Plan plan, PlanStatus status,
                        std::shared_ptr<const ShardingAnswer> answer) {
  candidates.push_back({std::move(plan), status, candidates.size(), /*isOpen=*/true});
  candidates.back().answer = std::move(answer);
  dropAnswers();
}

/// Forgets answers to all but the best few, which may be simulated.
void PlanSearch::dropAnswers() {
  std::vector<Candidate *> kept;
  for (Candidate &candidate : candidates)
    if (candidate.answer)
      kept.push_back(&candidate);
  if (kept.size() <= shortlist)
    return;
  llvm::sort(kept, [](const auto *a, const auto *b) { return a->isCheaperThan(*b); });
  for (Candidate *candidate : llvm::drop_begin(kept, shortlist))
    candidate->answer = nullptr;
}

double PlanSearch::getExcessiveBytes() const {
  double bytes = INFINITY;
  for (const Candidate &candidate : least)
    if (candidate.status == PlanStatus::Applied)
      bytes = std::min(bytes, candidate.plan.prediction().memory_bytes());
  bool isNone = llvm::all_of(candidates, [](const Candidate &candidate) {
    return candidate.status == PlanStatus::Infeasible;
  });
  return isNone && std::isfinite(bytes) ? bytes : 0;
}

double PlanSearch::getSecondsLimit() const { return shortlistRange * getLeastSeconds(); }

double PlanSearch::getLeastSeconds() const {
  double least = INFINITY;
  for (const Candidate &candidate : candidates)
    if (candidate.status == PlanStatus::Applied)
      least = std::min(least, candidate.plan.prediction().step_seconds());
  return std::isfinite(least) ? least : 0;
}

std::optional<PlannedModule> weft::applyQuietly(ModuleOp module, const plan::Plan &plan) {
  auto state = std::make_shared<PlanState>();
  state->plan = plan;
  state->isWhole = true;
  if (!runQuietly(module, state))
    return std::nullopt;
  return std::move(state->planned);
}

std::optional<PlannedModule> weft::applyKnown(ModuleOp module, Candidate &candidate) {
  auto state = std::make_shared<PlanState>();
  state->plan = withoutSearch(candidate.plan);
  state->isTrial = true;
  state->known = candidate.known;
  if (!candidate.known || !runQuietly(module, state))
    return std::nullopt;
  candidate.plan = std::move(state->plan);
  candidate.isOpen = false;
  return std::move(state->planned);
}

BytesByGroup weft::listAllocated(const Simulation &simulation, const plan::Plan &plan) {
  BytesByGroup bytes;
  for (const plan::Mesh &mesh : plan.meshes())
    for (const Simulation::RankClass &each : simulation.classes)
      if (each.begin <= mesh.first_device() && mesh.first_device() < each.end)
        bytes[mesh.first_device()] = static_cast<double>(each.peakBytes);
  return bytes;
}

Result<SimulatedProgram> weft::notePrice(ModuleOp planned, plan::Plan &plan) {
  Result<cluster::Cluster> cluster = findCluster(*planned.getContext(), plan.cluster());
  if (cluster.failed())
    return cluster.getOutcome();
  Result<SimulatedProgram> program = simulateInPlace(planned, *cluster);
  if (program.failed())
    return program;
  plan::Prediction &prediction = *plan.mutable_prediction();
  prediction.set_simulated_seconds(program->simulation.seconds);
  prediction.set_allocated_bytes(static_cast<double>(program->simulation.getPeakBytes()));
  return program;
}

//===----------------------------------------------------------------------===//
// The best few
//===----------------------------------------------------------------------===//

double PlanSearch::getFitting(size_t number) const {
  return candidates[number].fits() ? candidates[number].getSeconds() : INFINITY;
}

/// Seconds of the fastest that is known to fit, else infinite.
double PlanSearch::getBest() const {
  double best = INFINITY;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].isSimulated())
      best = std::min(best, getFitting(i));
  return best;
}

/// Notes what candidates' programs take.
void PlanSearch::simulate(llvm::ArrayRef<Candidate *> some, const Maker &make) {
  std::vector<Candidate *> open;
  llvm::copy_if(some, std::back_inserter(open), [](const Candidate *each) { return each->isOpen; });
  std::vector<bool> isDone(open.size(), false);
  if (make.simulateOpen && !open.empty())
    isDone = make.simulateOpen(open, Programs::All, std::max(getRemaining(), leastTime));
  for (Candidate *candidate : some) {
    auto place = llvm::find(open, candidate);
    if (place == open.end() || !isDone[place - open.begin()])
      simulateWhole(*candidate, make);
  }
}

/// Notes what the program of a candidate takes, whose module that was planned is lowered.
static void noteProgram(Candidate &candidate, ModuleOp planned, bool keepsProgram) {
  QuietDiagnostics quiet(planned.getContext());
  candidate.status = PlanStatus::Infeasible;
  FailureOr<SmallVector<int64_t>> lengths = SmallVector<int64_t>();
  if (countSlices(planned) > 1)
    lengths = findSliceLengths(planned);
  if (failed(lengths))
    return;
  Result<SimulatedProgram> program = notePrice(planned, candidate.plan);
  if (program.failed())
    return;
  candidate.status = PlanStatus::Applied;
  candidate.allocated = listAllocated(program->simulation, candidate.plan);
  if (keepsProgram)
    candidate.program = std::make_shared<TrialProgram>(std::move(*program), std::move(*lengths));
}

/// Notes what a candidate's program takes; searches its splits first where only their cost is
/// known.
void PlanSearch::simulateWhole(Candidate &candidate, const Maker &make) {
  plan::Plan asked = candidate.isOpen ? withoutSearch(candidate.plan) : candidate.plan;
  OwningOpRef<ModuleOp> module = make.module(asked);
  if (!module) {
    candidate.status = PlanStatus::Infeasible;
    return;
  }
  if (candidate.isOpen) {
    Candidate found = searchSplits(*module, asked, /*leastMemory=*/false, getRemaining(),
                                   candidate.limits, make.answers);
    candidate.plan = std::move(found.plan);
    candidate.counted = std::move(found.counted);
    candidate.status = found.status;
    candidate.isOpen = false;
  } else if (!applyQuietly(*module, asked)) {
    candidate.status = PlanStatus::Infeasible;
  }
  if (candidate.status == PlanStatus::Applied)
    noteProgram(candidate, *module, make.answers != nullptr);
}

void PlanSearch::sortByBest() {
  std::sort(candidates.begin(), candidates.end(),
            [](const auto &a, const auto &b) { return a.isBetterThan(b); });
}

/// Those that are to be looked at, in the order of their prices.
std::vector<size_t> PlanSearch::listBest(Open which) const {
  double cheapest = 0; // of those that are looked at: they come in order
  size_t from = which == Open::New ? settled : 0, wholes = 0;
  std::vector<size_t> chosen;
  for (auto [number, candidate] : llvm::enumerate(candidates)) {
    double seconds = candidate.plan.prediction().step_seconds();
    if (candidate.status != PlanStatus::Applied || candidate.number < from)
      continue;
    cheapest = cheapest > 0 ? cheapest : seconds;
    bool isFull = chosen.size() == shortlist ||
                  (!candidate.isOpen && wholes == std::max(shown, wholeShortlist));
    if (seconds > shortlistRange * cheapest || candidate.isSimulated() || isFull)
      continue;
    chosen.push_back(number);
    wholes += !candidate.isOpen;
  }
  return chosen;
}

/// Simulates the shortest programs of candidates that come in the order of their prices. Those
/// whose price says that they take longer than others did are left out, but that is noted of them.
void PlanSearch::simulateShortest(llvm::ArrayRef<Candidate *> open, const Maker &make) {
  double least = INFINITY, leastRatio = INFINITY;
  for (size_t next = 0; next < open.size() && getRemaining() > 0;) {
    llvm::SmallVector<Candidate *> some;
    for (; next < open.size() && some.size() < simulatedAtOnce; ++next) {
      double atLeast = steadyRatio * leastRatio * open[next]->plan.prediction().step_seconds();
      bool isSlow = std::isfinite(least) && atLeast > least && next >= shown;
      if (isSlow)
        open[next]->expectedSeconds = atLeast;
      else
        some.push_back(open[next]);
    }
    make.simulateOpen(some, Programs::Shortest, std::max(getRemaining(), leastTime));
    for (const Candidate *candidate : some) {
      if (candidate->status != PlanStatus::Applied || candidate->expectedSeconds <= 0)
        continue;
      least = std::min(least, candidate->expectedSeconds);
      leastRatio = std::min(leastRatio, candidate->expectedSeconds /
                                            candidate->plan.prediction().step_seconds());
    }
  }
}

/// Orders candidates by what their shortest programs take, where there are such.
void PlanSearch::compare(std::vector<size_t> &chosen, const Maker &make) {
  std::vector<Candidate *> open;
  for (size_t number : chosen)
    if (candidates[number].isOpen)
      open.push_back(&candidates[number]);
  if (!make.simulateOpen || open.size() <= std::max(shown, simulatedAtOnce))
    return;
  simulateShortest(open, make);
  llvm::erase_if(chosen,
                 [&](size_t number) { return candidates[number].status != PlanStatus::Applied; });
  auto key = [&](size_t number) {
    double seconds = candidates[number].expectedSeconds;
    return std::tuple(seconds <= 0, seconds, number);
  };
  llvm::sort(chosen, [&](size_t a, size_t b) { return key(a) < key(b); });
}

/// Simulates, some at once, those that are shown and those that may be the best.
void PlanSearch::simulateBest(llvm::ArrayRef<size_t> chosen, const Maker &make) {
  double best = getBest();
  for (size_t next = 0, done = 0; next < chosen.size();) {
    if (done > 0 && getRemaining() <= 0)
      return;
    // What is expected of them is in order.
    double nearest = std::min(best, nearRange * candidates[chosen[next]].expectedSeconds);
    llvm::SmallVector<size_t> numbers;
    for (; next < chosen.size() && numbers.size() < simulatedAtOnce; ++next) {
      double expected = candidates[chosen[next]].expectedSeconds;
      if (expected > 0 && expected > nearest && done + numbers.size() >= shown)
        break;
      numbers.push_back(chosen[next]);
    }
    if (numbers.empty())
      return;
    llvm::SmallVector<Candidate *> some;
    for (size_t number : numbers)
      some.push_back(&candidates[number]);
    simulate(some, make);
    llvm::sort(numbers, [&](size_t a, size_t b) {
      return std::pair(candidates[a].getSeconds(), a) < std::pair(candidates[b].getSeconds(), b);
    });
    for (size_t number : numbers)
      best = std::min(best, tighten(number, best, make));
    done += numbers.size();
  }
}

/// Simulates one after the other, some at once, until one fits.
void PlanSearch::simulateRest(const Maker &make) {
  std::vector<size_t> rest;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (!candidates[i].isSimulated() && candidates[i].status == PlanStatus::Applied)
      rest.push_back(i);
  for (size_t next = 0; next < rest.size(); next += simulatedAtOnce) {
    bool isOver = getRemaining() <= 0 && llvm::any_of(candidates, [](const Candidate &other) {
                    return other.isSimulated();
                  });
    if (std::isfinite(getBest()) || isOver)
      return;
    llvm::ArrayRef<size_t> numbers = llvm::ArrayRef(rest).slice(next).take_front(simulatedAtOnce);
    llvm::SmallVector<Candidate *> some;
    for (size_t i : numbers)
      some.push_back(&candidates[i]);
    simulate(some, make);
    for (size_t i : next < wholeShortlist ? numbers : llvm::ArrayRef<size_t>())
      tighten(i, getBest(), make);
  }
}

void PlanSearch::settle(MakeModule makeModule, SimulateOpen simulateOpen, Open which) {
  Maker make{makeModule, simulateOpen};
  std::sort(candidates.begin(), candidates.end(),
            [](const auto &a, const auto &b) { return a.isCheaperThan(b); });
  std::vector<size_t> chosen = listBest(which);
  compare(chosen, make);
  simulateBest(chosen, make);
  if (which == Open::All)
    simulateRest(make);
  settled = candidates.size();
  sortByBest();
}

void PlanSearch::settle(const plan::Plan &plan, BytesByGroup counted, BytesByGroup allocated,
                        MakeModule makeModule) {
  candidates.push_back({plan, PlanStatus::Applied, candidates.size(), /*isOpen=*/false});
  candidates.back().counted = std::move(counted);
  candidates.back().allocated = std::move(allocated);
  tighten(0, trialLimit, {makeModule, nullptr});
  sortByBest();
}

void PlanSearch::release() {
  for (Candidate &candidate : llvm::drop_begin(candidates, std::min<size_t>(1, candidates.size())))
    candidate.known = nullptr;
  for (Candidate &candidate : candidates) {
    candidate.answer = nullptr;
    candidate.programs = nullptr;
  }
}

void PlanSearch::add(const plan::Plan &plan) {
  candidates.insert(candidates.begin(), {plan, PlanStatus::Applied, candidates.size()});
}

void PlanSearch::confirm(const plan::Plan &plan) {
  if (candidates.empty())
    return;
  candidates.front().plan = plan;
  candidates.front().isOpen = false;
}
