#include "driver/ChooseTraining.h"

#include "driver/ChooseMesh.h"
#include "driver/Planning.h"
#include "driver/StepTrials.h"

using namespace mlir;
using namespace weft;

/// More microbatches than this are a sign that nothing fits.
static constexpr int64_t maxMicrobatches = 1024;

bool weft::needsTrainingChoice(const plan::Plan &plan) {
  const plan::Training &training = plan.training();
  return !plan.cluster().empty() && plan.has_training() && plan.meshes_size() == 1 &&
         (training.recompute() == plan::Training::AUTO || training.accumulate() == 0);
}

llvm::ArrayRef<plan::Training::Recompute> weft::listRecomputations(const plan::Training &training) {
  static constexpr plan::Training::Recompute all[] = {
      plan::Training::NONE, plan::Training::SELECTIVE, plan::Training::FULL};
  bool isOpen = training.recompute() == plan::Training::AUTO;
  return isOpen ? ArrayRef(all) : ArrayRef(all).slice(training.recompute(), 1);
}

/// A copy of the model, or the step that the plan asks for of it. Null where none can be made.
static OwningOpRef<ModuleOp> makeStep(ModuleOp module, const plan::Plan &plan) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(module.clone());
  if (plan.has_training() && trainModule(*copy, plan.training(), /*fromFile=*/false).failed())
    return nullptr;
  return copy;
}

namespace {
/// Tries what a plan leaves open.
class TrainingChoice {
public:
  TrainingChoice(ModuleOp module, const plan::Plan &plan, const std::vector<plan::Mesh> &meshes,
                 PlanSearch &search)
      : module(module), plan(plan), meshes(meshes), search(search), trials(module, plan, meshes) {}

  /// Tries, simulates the best few, and puts the best first.
  void run();
  /// Where nothing fits, the step and the mesh that hold least of what was tried; none where that
  /// is not known.
  std::optional<plan::Plan> findLeast();

private:
  void attempt(const plan::Plan &trial);
  void attempt(plan::Training::Recompute kind, int64_t count);
  void attemptMicrobatches(int64_t count);
  void settle(PlanSearch::Open which);

  ModuleOp module;
  const plan::Plan &plan;
  const std::vector<plan::Mesh> &meshes;
  PlanSearch &search;
  StepTrials trials;
  bool isMade = false, fits = false; ///< some step could be made, does fit
  std::optional<plan::Plan> least;   ///< of those that could be made the one that holds least
  double leastBytes = 0;             ///< B that a device holds of it in any case
};
} // namespace

/// Tries a step on all meshes.
void TrainingChoice::attempt(const plan::Plan &trial) {
  size_t tried = search.getCandidates().size();
  if (std::optional<bool> does = trials.attempt(trial, search)) {
    if (search.getCandidates().size() > tried) {
      isMade = true;
      if (!least || trials.getLeastBytes() < leastBytes) {
        least = trial;
        leastBytes = trials.getLeastBytes();
      }
    }
    fits |= *does;
    return;
  }
  OwningOpRef<ModuleOp> step = makeStep(module, trial);
  for (const plan::Mesh &mesh : step ? meshes : std::vector<plan::Mesh>())
    if (const Candidate *candidate = search.attempt(*step, withMesh(trial, mesh))) {
      isMade = true;
      fits |= candidate->fits();
    }
}

void TrainingChoice::attempt(plan::Training::Recompute kind, int64_t count) {
  plan::Plan trial = plan;
  trial.mutable_training()->set_recompute(kind);
  trial.mutable_training()->set_accumulate(count);
  attempt(trial);
}

/// Tries all ways to compute again with so many microbatches. Where nothing fitted with fewer of
/// them, the one that holds least comes first: if that does not fit, none does.
void TrainingChoice::attemptMicrobatches(int64_t count) {
  ArrayRef<plan::Training::Recompute> kinds = listRecomputations(plan.training());
  if (least && !fits) {
    attempt(kinds.back(), count);
    if (!fits)
      return;
    kinds = kinds.drop_back();
  }
  for (plan::Training::Recompute kind : kinds)
    attempt(kind, count);
}

void TrainingChoice::settle(PlanSearch::Open which) {
  search.settle([&](const plan::Plan &trial) { return makeStep(module, trial); },
                [&](ArrayRef<Candidate *> some, Programs programs, double seconds) {
                  return trials.simulate(some, programs, seconds, search.getThreads());
                },
                which);
}

void TrainingChoice::run() {
  if (!needsTrainingChoice(plan)) {
    attempt(plan);
    return settle(PlanSearch::Open::All);
  }
  int64_t given = plan.training().accumulate();
  for (int64_t count = std::max<int64_t>(given, 1); count <= maxMicrobatches; count *= 2) {
    isMade = false;
    attemptMicrobatches(count);
    if (!isMade || given > 0)
      break;
    if (!fits)
      continue;
    settle(PlanSearch::Open::New);
    const Candidate &best = search.getCandidates().front();
    if (best.isSimulated() && best.fits())
      return;
  }
  settle(PlanSearch::Open::All);
}

/// Whether the program of a plan may fit, as far as short ones say.
static bool mayFit(const Candidate &candidate) {
  const plan::Prediction &expected = candidate.plan.prediction();
  double limit = expected.memory_limit_bytes();
  return candidate.status == PlanStatus::Applied &&
         (limit <= 0 || !candidate.isSimulated() || expected.allocated_bytes() <= limit);
}

std::optional<plan::Plan> TrainingChoice::findLeast() {
  bool isFound = llvm::any_of(search.getCandidates(), mayFit);
  PlanSearch small;
  if (isFound || !least || !trials.attempt(*least, small, /*leastMemory=*/true))
    return std::nullopt;
  auto found = llvm::min_element(small.getCandidates(),
                                 [](const auto &a, const auto &b) { return a.isSmallerThan(b); });
  search.keepLeast(small.getCandidates());
  bool isThere = found != small.getCandidates().end() && found->status == PlanStatus::Applied;
  return isThere ? std::optional(withoutSearch(found->plan)) : std::nullopt;
}

Outcome weft::chooseTraining(ModuleOp module, plan::Plan &plan, PlanSearch &search) {
  Result<std::vector<plan::Mesh>> meshes = listMeshes(module, plan);
  if (meshes.failed())
    return meshes.getOutcome();
  TrainingChoice choice(module, plan, *meshes, search);
  choice.run();
  std::optional<plan::Plan> least; // of which people are told why it does not fit
  if (search.getUntrained())
    least = choice.findLeast();
  search.release();
  if (least) {
    plan = std::move(*least);
  } else if (!search.getCandidates().empty()) {
    const Candidate &best = search.getCandidates().front();
    plan = best.isOpen ? withoutSearch(best.plan) : best.plan;
  } else if (needsTrainingChoice(plan)) {
    plan.mutable_training()->set_recompute(listRecomputations(plan.training()).back());
    plan.mutable_training()->set_accumulate(std::max<int64_t>(1, plan.training().accumulate()));
  }
  return Outcome::success();
}
