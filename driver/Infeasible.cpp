//===- Infeasible.cpp - why nothing fits, and what would ------------------===//

#include "driver/Infeasible.h"

#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Support/Bytes.h"
#include "driver/ChooseTraining.h"
#include "driver/Concurrently.h"
#include "driver/Diagnostics.h"
#include "driver/Training.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace weft;

/// s in which changes are looked for, and by how many times more devices.
static constexpr double timeBudget = 60;
static constexpr int64_t maxFactor = 64;

/// Owners that are named.
static constexpr size_t numOwners = 4;

/// By how much more than short programs say the whole one may allocate, or less.
static constexpr double extrapolationError = 1.1;

static void note(ModuleOp module, const std::string &text) {
  module.getContext()->getDiagEngine().emit(UnknownLoc::get(module.getContext()),
                                            DiagnosticSeverity::Note)
      << text;
}

static std::string describeMesh(const plan::Mesh &mesh) {
  std::vector<std::string> axes;
  for (const plan::Axis &axis : mesh.axes())
    axes.push_back(fmt::format("{}={}", axis.name(), axis.size()));
  return axes.empty() ? "one device" : fmt::format("{}", fmt::join(axes, ","));
}

/// What devices hold that are fullest, by class and by owner.
static void tellHeld(ModuleOp module, const plan::Mesh &mesh,
                     const Simulation::RankClass &fullest) {
  std::vector<std::string> classes, owners;
  for (size_t kind = 0; kind < numMemoryClasses; ++kind)
    if (fullest.memory[kind] > 0)
      classes.push_back(fmt::format("{} {}", getMemoryClassName(static_cast<MemoryClass>(kind)),
                                    describeBytes(static_cast<double>(fullest.memory[kind]))));
  for (const HeldValue &owner : llvm::ArrayRef(fullest.owners).take_front(numOwners))
    owners.push_back(
        fmt::format("'{}' {}", owner.name, describeBytes(static_cast<double>(owner.bytes))));
  std::string place = fullest.end - fullest.begin == 1
                          ? fmt::format("device {}", fullest.begin)
                          : fmt::format("each of devices {} to {}", fullest.begin, fullest.end - 1);
  note(module,
       fmt::format("{} of mesh {} allocates {} where least is held: {}", place, describeMesh(mesh),
                   describeBytes(static_cast<double>(fullest.peakBytes)),
                   fmt::join(classes, ", ")));
  note(module, fmt::format("the largest owners there: {}", fmt::join(owners, ", ")));
}

/// Completes a candidate that short programs tell of and looks at the whole. Whether it fits.
static bool completes(const AskedModel &asked, Candidate &best, WholeStep &whole) {
  if (!best.isOpen)
    return best.fits();
  OwningOpRef<ModuleOp> step(asked.getSource(best.plan).clone());
  bool isMade = !best.plan.has_training() || whole.take(*step, best.plan.training()) ||
                !trainModule(*step, best.plan.training(), /*fromFile=*/false).failed();
  return isMade && simulateWhole(*step, best) && best.fits();
}

std::optional<Candidate> weft::findFitting(const AskedModel &asked, plan::Plan plan,
                                           double seconds) {
  ModuleOp source = asked.getSource(plan);
  QuietDiagnostics quiet(source.getContext());
  PlanSearch search(seconds, /*shown=*/1, /*shortlist=*/1);
  search.setThreads(asked.threads);
  WholeStep whole;
  if (chooseTraining(source, plan, search, whole).failed() || search.getCandidates().empty() ||
      !search.getCandidates().front().fits())
    return std::nullopt;
  Candidate best = search.getCandidates().front();
  return completes(asked, best, whole) ? std::optional(std::move(best)) : std::nullopt;
}

namespace {
class Explanation {
public:
  /// With `isShort`, short programs tell of the plans.
  /// `choseTraining`: whether that was left to the search, which has tried it all.
  Explanation(const AskedModel &asked, const plan::Plan &plan, bool isShort, bool choseTraining)
      : asked(asked), model(asked.model), plan(plan), isShort(isShort),
        choseTraining(choseTraining) {}

  void run(Candidate least);

private:
  struct Fitting {
    std::string option; ///< of the command line
    Candidate found;
  };
  bool lookAt(Candidate &least, Simulation::RankClass &fullest);
  void tellFitting(const std::string &option, const Candidate &found);
  std::optional<Candidate> findBest(const plan::Plan &trial);
  std::optional<Candidate> choose(plan::Plan trial) {
    return findFitting(asked, std::move(trial), timeBudget);
  }
  void tellMemory(double bytes, const Candidate &found);
  void tryMemory(const Candidate &least);
  std::optional<Fitting> findDevices(const plan::Prediction &least);
  std::optional<Candidate> findTraining();
  void tryTraining();
  void tryOffload();

  AskedModel asked;
  ModuleOp model;
  const plan::Plan &plan;
  bool isShort, choseTraining;
};
} // namespace

/// Looks at the whole program of the least, notes what it takes and which devices are fullest.
/// False where the least is known of short programs alone, which the whole is not like.
bool Explanation::lookAt(Candidate &least, Simulation::RankClass &fullest) {
  OwningOpRef<ModuleOp> copy(model.clone());
  std::optional<PlannedModule> planned =
      least.isOpen ? applyKnown(*copy, least) : applyQuietly(*copy, least.plan);
  if (!planned)
    return false;
  QuietDiagnostics quiet(model.getContext());
  Result<SimulatedProgram> program = notePrice(*copy, least.plan);
  if (program.failed())
    return false;
  fullest = program->simulation.getFullest();
  return true;
}

void Explanation::tellFitting(const std::string &option, const Candidate &found) {
  note(model,
       fmt::format("{} would fit: on mesh {} a device allocates {}, and a step takes {:.4g} s",
                   option, describeMesh(found.plan.meshes(0)),
                   describeBytes(found.plan.prediction().allocated_bytes()), found.getSeconds()));
}

std::optional<Candidate> Explanation::findBest(const plan::Plan &trial) {
  if (isShort)
    return choose(trial);
  PlanSearch search(timeBudget, /*shown=*/1, /*shortlist=*/1);
  for (const plan::Plan &open : listTrials(model, trial))
    search.attempt(model, open);
  search.settle([&](const plan::Plan &) { return OwningOpRef<ModuleOp>(model.clone()); });
  if (search.getCandidates().empty() || !search.getCandidates().front().fits())
    return std::nullopt;
  return search.getCandidates().front();
}

/// The unit in which --memory is told: large ones in mebibytes, others in kibibytes.
static int getUnitShift(double bytes) { return bytes >= 1 << 30 ? 20 : 10; }

/// Somewhat more, as whole units.
static int64_t roundUp(double bytes) {
  int shift = getUnitShift(bytes);
  return (static_cast<int64_t>(bytes / (int64_t(1) << shift)) + 1) << shift;
}

void Explanation::tellMemory(double bytes, const Candidate &found) {
  int shift = getUnitShift(bytes);
  tellFitting(fmt::format("--memory {}{}", roundUp(bytes) >> shift, shift == 20 ? "MiB" : "KiB"),
              found);
}

/// As much memory as the search counts where least is held, or, where programs of that need more,
/// as much as the program of the least allocates: with that much it is that plan, or one that takes
/// less time.
void Explanation::tryMemory(const Candidate &least) {
  double counted = leastHeadroom * least.plan.prediction().memory_bytes();
  double allocated = std::max(counted, least.plan.prediction().allocated_bytes());
  if (isShort)
    return tellMemory(allocated, least);
  allocated = std::max(allocated, leastHeadroom * least.plan.prediction().allocated_bytes());
  for (double share : {0.0, 0.5, 1.0}) {
    double bytes = counted + share * (allocated - counted);
    plan::Plan trial = plan;
    trial.set_memory_limit(roundUp(bytes));
    std::optional<Candidate> found = findBest(trial);
    if (std::optional<SmallestPlan> smallest; !found && share == 1 &&
                                              (smallest = findSmallest(asked, trial)) &&
                                              fitsWhole(asked, *smallest))
      found = std::move(smallest->candidate);
    if (found)
      return tellMemory(bytes, *found);
  }
}

/// Leaves to the search what is computed again, in how many microbatches.
static void openTraining(plan::Plan &plan) {
  plan.mutable_training()->set_recompute(plan::Training::AUTO);
  plan.mutable_training()->set_accumulate(0);
}

/// Twice as many devices of the same kind, and so on.
std::optional<Explanation::Fitting> Explanation::findDevices(const plan::Prediction &least) {
  auto [name, count] = llvm::StringRef(plan.cluster()).rsplit(':');
  int64_t number = 0;
  if (count.getAsInteger(10, number) || name.contains('+') || plan.meshes_size() != 1)
    return std::nullopt;
  bool isPinned = llvm::any_of(plan.decisions(), [](const plan::Decision &decision) {
    return decision.origin() == plan::USER;
  });
  for (int64_t factor = 2; factor <= maxFactor; factor *= 2) {
    // Each of so many times as many devices holds no less than such a part.
    if (isShort && !isPinned && least.memory_bytes() > factor * least.memory_limit_bytes())
      continue;
    plan::Plan trial = plan;
    trial.set_cluster(fmt::format("{}:{}", name.str(), number * factor));
    if (!isPinned)
      trial.mutable_meshes(0)->clear_axes();
    if (choseTraining && isShort)
      openTraining(trial);
    if (std::optional<Candidate> found = findBest(trial))
      return Fitting{"--cluster " + trial.cluster(), std::move(*found)};
  }
  return std::nullopt;
}

/// What is computed again, in how many microbatches, so that it fits.
std::optional<Candidate> Explanation::findTraining() {
  plan::Plan trial = plan;
  openTraining(trial);
  return choose(std::move(trial));
}

void Explanation::tryTraining() {
  if (!asked.untrained || needsTrainingChoice(plan))
    return;
  std::optional<Candidate> found = findTraining();
  if (!found)
    return;
  const plan::Training &training = found->plan.training();
  tellFitting(fmt::format("--recompute {} --accumulate {}", getRecomputeName(training.recompute()),
                          std::max<int64_t>(1, training.accumulate())),
              *found);
}

/// The optimizer's state kept by hosts, where nobody looked at that.
void Explanation::tryOffload() {
  if (!asked.untrained || plan.training().offload() != plan::Training::OFFLOAD_NONE ||
      !hasHosts(plan))
    return;
  plan::Plan trial = plan;
  if (choseTraining)
    openTraining(trial);
  trial.mutable_training()->set_offload(plan::Training::OFFLOAD_OPTIMIZER);
  if (std::optional<Candidate> found = choose(std::move(trial)))
    tellFitting("--offload optimizer", *found);
}

void Explanation::run(Candidate least) {
  const plan::Prediction expected = least.plan.prediction();
  Simulation::RankClass fullest;
  bool isKnown = false, wasOpen = least.isOpen;
  std::optional<Fitting> more;
  doConcurrently(2, asked.threads, [&](size_t work) {
    if (work == 0)
      isKnown = lookAt(least, fullest);
    else
      more = findDevices(expected);
  });
  if (isKnown)
    tellHeld(model, least.plan.meshes(0), fullest);
  else if (wasOpen)
    return;
  tryMemory(least);
  if (more)
    tellFitting(more->option, more->found);
  if (!choseTraining)
    tryTraining();
  tryOffload();
}

bool weft::fitsWhole(const AskedModel &asked, SmallestPlan &smallest) {
  Candidate &candidate = smallest.candidate;
  const plan::Prediction &expected = candidate.plan.prediction();
  if (!candidate.isOpen)
    return candidate.fits();
  return expected.allocated_bytes() <= extrapolationError * expected.memory_limit_bytes() &&
         simulateWhole(asked.model, candidate) && candidate.fits();
}

void weft::explainInfeasible(const AskedModel &asked, const plan::Plan &plan, SmallestPlan smallest,
                             bool choseTraining) {
  Explanation(asked, plan, smallest.isShort, choseTraining).run(std::move(smallest.candidate));
}
