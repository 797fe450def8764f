#include "driver/StageTrials.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Search/StagePartition.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "driver/ChooseMesh.h"
#include "driver/ChooseTraining.h"
#include "driver/Diagnostics.h"
#include "driver/StageCuts.h"
#include "driver/StepTrials.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>
#include <tuple>

using namespace mlir;
using namespace weft;

/// How many times as fast as other nodes a device reaches its own, for stages to be expected to win
/// much: with less, what goes to other nodes mostly hides behind computation.
static constexpr double slowNetwork = 16;

/// Of those with the same number of stages and of microbatches, so many are worth to be told of.
static constexpr size_t mostAlike = 3;

/// What is expected to take as long, but for this part of it.
static constexpr double sameRange = 2e-3;

namespace {
/// One number of stages.
struct StageNumber {
  plan::Plan asked; ///< for so many
  std::vector<plan::Mesh> meshes;
  std::optional<StepTrials> trials;
  std::set<int64_t> microbatches;   ///< that are tried
  std::optional<PlanSearch> search; ///< of one of these
  double excess = 1;                ///< how much more the largest stage has to do than its share
  double least = INFINITY;          ///< s of the fastest with fewer microbatches
  bool isOver = false;              ///< more of them only take longer
  std::vector<StagedPlan> plans;

  int64_t stages() const { return asked.stages(); }
};

class StageTrials {
public:
  StageTrials(ModuleOp module, const plan::Plan &asked)
      : module(module), asked(asked), blocks(findBlocks(module.lookupSymbol<func::FuncOp>("main"))),
        work(countWork(blocks)) {}

  /// Stages that the model's blocks make.
  int64_t getMost() const { return static_cast<int64_t>(work.size()); }
  Outcome add(int64_t stages);
  /// Leaves of the numbers of microbatches that are tried the one in the middle.
  void keepUsual();
  std::vector<StagedPlan> run();

private:
  ArrayRef<plan::Training::Recompute> listKinds() const;
  std::set<int64_t> listMicrobatches(int64_t stages) const;
  double findExcess(int64_t stages) const;
  bool attempt(StageNumber &number, plan::Training::Recompute kind, int64_t count);
  void attemptMicrobatches(int64_t count);
  void note(StageNumber &number, int64_t count);
  bool isOpen() const;
  plan::Plan getLast() const;
  std::vector<StagedPlan> findSmallest();

  ModuleOp module;
  const plan::Plan &asked;
  ModelBlocks blocks;
  std::vector<double> work; ///< of each block
  std::vector<std::unique_ptr<StageNumber>> numbers;
};
} // namespace

/// Ways to compute again; that which takes the least, where devices may hold any amount.
ArrayRef<plan::Training::Recompute> StageTrials::listKinds() const {
  ArrayRef<plan::Training::Recompute> kinds = listRecomputations(asked.training());
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(asked.cluster(), problem);
  bool isLimited = cluster && getMemoryLimit(asked, makeClusterModel(*cluster)) > 0;
  return isLimited ? kinds : kinds.take_front();
}

/// Those that divide the batch: as many as there are stages, and twice as many again and again.
std::set<int64_t> StageTrials::listMicrobatches(int64_t stages) const {
  const plan::Training &training = asked.training();
  if (!asked.has_training() || training.accumulate_batches() > 1 || training.accumulate() > 0)
    return {std::max<int64_t>(training.accumulate(), 1)};
  int64_t batch =
      BatchDimensions(FunctionGraph(ModuleOp(module).lookupSymbol<func::FuncOp>("main")).graph)
          .size();
  std::set<int64_t> counts;
  for (int64_t count = stages; count <= batch; count *= 2)
    if (batch % count == 0)
      counts.insert(count);
  return counts.empty() ? std::set<int64_t>{1} : counts;
}

/// Blocks are not cut.
double StageTrials::findExcess(int64_t stages) const {
  double largest = 0, own = 0, all = 0;
  size_t block = 0;
  std::vector<size_t> ends = partitionStages(work, blocks.liveBytes, stages);
  for (ends.push_back(work.size() - 1); size_t end : ends) {
    for (own = 0; block <= end; ++block)
      own += work[block];
    largest = std::max(largest, own);
    all += own;
  }
  return all > 0 ? largest * static_cast<double>(stages) / all : 1;
}

Outcome StageTrials::add(int64_t stages) {
  auto number = std::make_unique<StageNumber>();
  number->asked = asked;
  number->asked.set_stages(stages);
  Result<std::vector<plan::Mesh>> meshes = listMeshes(module, number->asked);
  if (meshes.failed())
    return meshes.getOutcome();
  number->meshes = std::move(*meshes);
  number->trials.emplace(module, number->asked, number->meshes,
                         numbers.empty() ? nullptr : &*numbers.front()->trials);
  number->microbatches = listMicrobatches(stages);
  number->excess = findExcess(stages);
  numbers.push_back(std::move(number));
  return Outcome::success();
}

void StageTrials::keepUsual() {
  for (const auto &number : numbers) {
    std::set<int64_t> &counts = number->microbatches;
    counts = {*std::next(counts.begin(), static_cast<ptrdiff_t>(counts.size() / 2))};
  }
}

/// Tries a way to train on all meshes. Whether one fits.
bool StageTrials::attempt(StageNumber &number, plan::Training::Recompute kind, int64_t count) {
  plan::Plan trial = number.asked;
  if (trial.has_training()) {
    trial.mutable_training()->set_recompute(kind);
    trial.mutable_training()->set_accumulate(count);
  }
  if (std::optional<bool> fits = number.trials->attempt(trial, *number.search))
    return *fits;
  bool fits = false;
  OwningOpRef<ModuleOp> step = makeStep(module, trial);
  for (const plan::Mesh &mesh : step ? number.meshes : std::vector<plan::Mesh>())
    if (const Candidate *candidate = number.search->attempt(*step, withMesh(trial, mesh)))
      fits |= candidate->fits();
  return fits;
}

/// Notes what fits with so many microbatches, and whether more of them are worth a trial.
void StageTrials::note(StageNumber &number, int64_t count) {
  std::vector<Candidate> found;
  llvm::copy_if(number.search->getCandidates(), std::back_inserter(found),
                [](const Candidate &candidate) { return candidate.fits(); });
  auto key = [](const Candidate &candidate) { // of what takes as long, what computes least again
    return std::tuple(std::llround(std::log(candidate.getSeconds()) / sameRange),
                      candidate.plan.training().recompute(), candidate.number);
  };
  llvm::sort(found, [&](const auto &a, const auto &b) { return key(a) < key(b); });
  found.resize(std::min(found.size(), mostAlike));
  int64_t batches = std::max<int64_t>(asked.training().accumulate_batches(), 1);
  auto passes = static_cast<double>(count * batches), stages = double(number.stages());
  for (const Candidate &candidate : found)
    number.plans.push_back(
        {withoutSearch(candidate.plan),
         number.excess * candidate.getSeconds() / stages * (passes + stages - 1) / passes});
  double least =
      found.empty() ? INFINITY : number.plans[number.plans.size() - found.size()].seconds;
  number.isOver = std::isfinite(number.least) && least >= number.least;
  number.least = std::min(number.least, least);
}

/// Where what holds least does not fit, nothing does.
void StageTrials::attemptMicrobatches(int64_t count) {
  std::vector<StageNumber *> open;
  for (const auto &number : numbers)
    if (!number->isOver && number->microbatches.contains(count))
      open.push_back(number.get());
  for (StageNumber *number : open)
    number->search.emplace().noteTrial();
  ArrayRef<plan::Training::Recompute> kinds = listKinds();
  std::vector<StageNumber *> fitting;
  llvm::copy_if(open, std::back_inserter(fitting),
                [&](StageNumber *number) { return attempt(*number, kinds.back(), count); });
  for (plan::Training::Recompute kind : kinds.drop_back())
    for (StageNumber *number : fitting)
      attempt(*number, kind, count);
  for (StageNumber *number : fitting)
    note(*number, count);
}

/// With as many stages as may be, as much computed again, and in as many microbatches.
plan::Plan StageTrials::getLast() const {
  const StageNumber &number = *numbers.back();
  plan::Plan last = withMesh(number.asked, number.meshes.front());
  if (last.has_training()) {
    last.mutable_training()->set_recompute(listKinds().back());
    last.mutable_training()->set_accumulate(*number.microbatches.rbegin());
  }
  return last;
}

/// Of these the one that holds least.
std::vector<StagedPlan> StageTrials::findSmallest() {
  StageNumber &number = *numbers.back();
  plan::Plan trial = getLast();
  PlanSearch small;
  number.trials->attempt(trial, small, /*leastMemory=*/true);
  auto least = llvm::min_element(small.getCandidates(),
                                 [](const auto &a, const auto &b) { return a.isSmallerThan(b); });
  bool isFound = least != small.getCandidates().end() && least->status == PlanStatus::Applied;
  return {{isFound ? withoutSearch(least->plan) : trial}};
}

/// Whether there is anything to choose.
bool StageTrials::isOpen() const {
  return numbers.size() > 1 || numbers.front()->meshes.size() > 1 ||
         numbers.front()->microbatches.size() > 1 || listKinds().size() > 1;
}

std::vector<StagedPlan> StageTrials::run() {
  if (!isOpen())
    return {{getLast()}};
  QuietDiagnostics quiet(module.getContext());
  std::set<int64_t> counts;
  for (const auto &number : numbers)
    counts.insert(number->microbatches.begin(), number->microbatches.end());
  for (int64_t count : counts)
    attemptMicrobatches(count);
  std::vector<StagedPlan> all;
  for (const auto &number : numbers)
    all.insert(all.end(), number->plans.begin(), number->plans.end());
  auto key = [](const StagedPlan &staged) {
    const plan::Training &training = staged.plan.training();
    return std::tuple(staged.seconds, staged.plan.stages(), training.accumulate(),
                      training.recompute(), staged.plan.meshes(0).SerializeAsString());
  };
  llvm::sort(all, [&](const auto &a, const auto &b) { return key(a) < key(b); });
  return all.empty() ? findSmallest() : all;
}

Result<std::vector<StagedPlan>> weft::rankStages(ModuleOp module, const plan::Plan &asked,
                                                 ArrayRef<int64_t> numbers) {
  if (numbers.empty())
    return std::vector<StagedPlan>();
  StageTrials trials(module, asked);
  for (int64_t stages : numbers)
    if (Outcome added = trials.add(stages); added.failed())
      return added;
  return trials.run();
}

/// How many groups of devices have a network between them that is slow beside their own: nodes, or
/// as many of them as divide evenly by two; 1: none.
static int64_t countFarGroups(const GroupModel &group) {
  if (group.tiers.size() < 2)
    return 1;
  const TierModel &outer = group.tiers.back(), &inner = group.tiers[group.tiers.size() - 2];
  int64_t inside = 1, groups = 1;
  for (const TierModel &tier : ArrayRef(group.tiers).drop_back())
    inside *= tier.fanout;
  double far = outer.links * outer.seen / static_cast<double>(inside);
  if (inner.links * inner.seen < slowNetwork * far)
    return 1;
  while (outer.fanout % (2 * groups) == 0)
    groups *= 2;
  return groups;
}

std::optional<StagedPlan> weft::estimateStages(ModuleOp module, const plan::Plan &asked) {
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(asked.cluster(), problem);
  int64_t stages = cluster ? countFarGroups(makeClusterModel(*cluster).groups.front()) : 1;
  if (stages < 2)
    return std::nullopt;
  StageTrials trials(module, asked);
  while (stages > trials.getMost())
    stages /= 2;
  if (stages < 2 || trials.add(stages).failed())
    return std::nullopt;
  trials.keepUsual();
  std::vector<StagedPlan> plans = trials.run();
  return plans.front().seconds > 0 ? std::optional(plans.front()) : std::nullopt;
}
