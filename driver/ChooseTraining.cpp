#include "driver/ChooseTraining.h"

#include "compiler/Cluster/Catalog.h"
#include "driver/ChooseMesh.h"
#include "driver/Diagnostics.h"
#include "driver/Planning.h"
#include "driver/StepTrials.h"

using namespace mlir;
using namespace weft;

/// More microbatches than this are a sign that nothing fits.
static constexpr int64_t maxMicrobatches = 1024;

/// By how much what is expected of other numbers of microbatches may be off.
static constexpr double floorError = 1.02;

bool weft::hasHosts(const plan::Plan &plan) {
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(plan.cluster(), problem);
  return cluster && llvm::all_of(cluster->groups(),
                                 [](const cluster::Group &group) { return group.has_host(); });
}

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

OwningOpRef<ModuleOp> weft::makeStep(ModuleOp module, const plan::Plan &plan) {
  QuietDiagnostics quiet(module.getContext());
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
                 PlanSearch &search, WholeStep &whole)
      : module(module), plan(plan), meshes(meshes), search(search), whole(whole),
        trials(module, plan, meshes) {}

  /// Tries, simulates the best few, and puts the best first.
  void run();
  /// Where nothing fits, the step and the mesh that hold least of what was tried; none where that
  /// is not known.
  std::optional<plan::Plan> findLeast();

private:
  void attempt(const plan::Plan &trial);
  void attempt(plan::Training::Recompute kind, int64_t count);
  void attemptMicrobatches(int64_t count);
  void noteFloor(const plan::Training &training);
  std::optional<double> getFloor(int64_t count) const;
  int64_t getNext(int64_t count);
  void settle(PlanSearch::Open which);
  void beginWhole(const plan::Training &training);

  ModuleOp module;
  const plan::Plan &plan;
  const std::vector<plan::Mesh> &meshes;
  PlanSearch &search;
  WholeStep &whole;
  StepTrials trials;
  bool isMade = false, fits = false; ///< some step could be made, does fit
  std::optional<plan::Plan> least;   ///< of those that could be made the one that holds least
  double leastBytes = 0;             ///< B that a device holds of it in any case
  /// What a device holds in any case where as much is computed again as may be.
  struct Floor {
    int64_t count; ///< of microbatches
    double bytes;
  };
  std::vector<Floor> floors;      ///< in the order of trials
  int64_t last = maxMicrobatches; ///< that may be tried
};
} // namespace

/// Begins the step of the whole beside what goes on: as something fits, one will be made.
void TrainingChoice::beginWhole(const plan::Training &training) {
  if (plan.has_training() && search.getThreads() > 1)
    whole.begin(module, training);
}

/// Tries a step on all meshes.
void TrainingChoice::attempt(const plan::Plan &trial) {
  size_t tried = search.getCandidates().size();
  auto begin = [&] { beginWhole(trial.training()); };
  if (std::optional<bool> does = trials.attempt(trial, search, /*leastMemory=*/false, begin)) {
    if (search.getCandidates().size() > tried) {
      isMade = true;
      noteFloor(trial.training());
      if (!least || trials.getTried().leastBytes < leastBytes) {
        least = trial;
        leastBytes = trials.getTried().leastBytes;
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

/// The step that computes so much again, in so many microbatches.
static plan::Plan withTraining(plan::Plan plan, plan::Training::Recompute kind, int64_t count) {
  plan.mutable_training()->set_recompute(kind);
  plan.mutable_training()->set_accumulate(count);
  return plan;
}

void TrainingChoice::attempt(plan::Training::Recompute kind, int64_t count) {
  attempt(withTraining(plan, kind, count));
}

/// With one microbatch no sums of gradients are held beside those of the last one.
void TrainingChoice::noteFloor(const plan::Training &training) {
  bool isLeast = training.recompute() == listRecomputations(plan.training()).back();
  if (isLeast && training.accumulate() > 1)
    floors.push_back({training.accumulate(), trials.getTried().leastBytes});
}

/// What so many microbatches leave to a device in any case, as two other numbers of them say: of
/// weights and the like as much, of what one microbatch has in proportion. None where these were
/// not tried.
std::optional<double> TrainingChoice::getFloor(int64_t count) const {
  if (floors.size() < 2)
    return std::nullopt;
  auto [fewer, most] = floors[floors.size() - 2];
  auto [more, least] = floors.back();
  double share = (1.0 / count - 1.0 / more) / (1.0 / fewer - 1.0 / more);
  return least + share * (most - least);
}

/// The number of microbatches that is tried next: twice as many, or, where nothing fitted yet, the
/// first with which something may. Where nothing will, people are told what holds least: as many as
/// can be, or half as many, which single examples may split better.
int64_t TrainingChoice::getNext(int64_t count) {
  int64_t next = 2 * count;
  if (fits || !getFloor(next) || trials.getTried().limitBytes <= 0)
    return next;
  if (int64_t examples = trials.getTried().examples)
    last = std::min(last, std::max(next, count * examples));
  while (next < last && *getFloor(next) > floorError * trials.getTried().limitBytes)
    next *= 2;
  plan::Training::Recompute kind = listRecomputations(plan.training()).back();
  while (next > 2 * count && !trials.isMakable(withTraining(plan, kind, next)))
    last = next /= 2;
  bool mayFit = *getFloor(next) <= floorError * trials.getTried().limitBytes;
  return mayFit ? next : std::max(2 * count, next / 2);
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
  for (int64_t count = std::max<int64_t>(given, 1); count <= last; count = getNext(count)) {
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

Outcome weft::chooseTraining(ModuleOp module, plan::Plan &plan, PlanSearch &search,
                             WholeStep &whole) {
  Result<std::vector<plan::Mesh>> meshes = listMeshes(module, plan);
  if (meshes.failed())
    return meshes.getOutcome();
  bool mayOffload = plan.training().offload() == plan::Training::OFFLOAD_AUTO && hasHosts(plan);
  if (plan.has_training())
    closeOffload(*plan.mutable_training());
  std::optional<TrainingChoice> choice;
  choice.emplace(module, plan, *meshes, search, whole).run();
  if (mayOffload && llvm::none_of(search.getCandidates(), mayFit)) {
    plan.mutable_training()->set_offload(plan::Training::OFFLOAD_OPTIMIZER);
    choice.emplace(module, plan, *meshes, search, whole).run();
  }
  std::optional<plan::Plan> least; // of which people are told why it does not fit
  if (search.getUntrained())
    least = choice->findLeast();
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
