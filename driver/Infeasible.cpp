//===- Infeasible.cpp - why nothing fits, and what would ------------------===//

#include "driver/Infeasible.h"

#include "driver/ChooseMesh.h"
#include "driver/ChooseTraining.h"
#include "driver/PlanAnswer.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace weft;

/// s in which changes are looked for, and by how many times more devices.
static constexpr double timeBudget = 60;
static constexpr int64_t maxFactor = 64;

/// Owners that are named.
static constexpr size_t numOwners = 4;

/// Of the least that the search counts, what it is asked to keep to: solved again, the answer may
/// lie a little above.
static constexpr double headroom = 1.01, nearLeast[] = {headroom, 1.1, 1.25, 1.5};

/// Meshes whose plans of least memory are lowered.
static constexpr size_t numLeast = 2;

static void note(ModuleOp module, const std::string &text) {
  module.getContext()->getDiagEngine().emit(UnknownLoc::get(module.getContext()),
                                            DiagnosticSeverity::Note)
      << text;
}

static std::string describeBytes(double bytes) {
  double mebibytes = bytes / (1 << 20);
  return mebibytes >= 1024 ? fmt::format("{:.2f} GiB", mebibytes / 1024)
                           : fmt::format("{:.2f} MiB", mebibytes);
}

static std::string describeMesh(const plan::Mesh &mesh) {
  std::vector<std::string> axes;
  for (const plan::Axis &axis : mesh.axes())
    axes.push_back(fmt::format("{}={}", axis.name(), axis.size()));
  return axes.empty() ? "one device" : fmt::format("{}", fmt::join(axes, ","));
}

namespace {
class Explanation {
public:
  Explanation(ModuleOp model, ModuleOp untrained, const plan::Plan &plan)
      : model(model), untrained(untrained), plan(plan) {}

  void run();

private:
  void tellOwners(Candidate &least);
  void tellFitting(const std::string &option, const Candidate &found);
  std::optional<Candidate> findBest(const plan::Plan &trial);
  void tryMemory(const Candidate &least);
  void tryDevices();
  std::optional<Candidate> findTraining();
  void tryTraining();

  ModuleOp model, untrained;
  const plan::Plan &plan;
};
} // namespace

/// The plan on each mesh that may be taken.
static std::vector<plan::Plan> listTrials(ModuleOp model, const plan::Plan &plan) {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  if (plan.meshes_size() != 1) // parts have theirs
    return {plan};
  std::vector<plan::Plan> trials;
  if (Result<std::vector<plan::Mesh>> meshes = listMeshes(model, plan); !meshes.failed())
    for (const plan::Mesh &mesh : *meshes)
      trials.push_back(withMesh(plan, mesh));
  return trials;
}

/// Notes in a searched plan what its program takes and allocates. Whether that is known.
static bool simulate(ModuleOp model, Candidate &candidate) {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(model.clone());
  return candidate.status == PlanStatus::Applied && applyQuietly(*copy, candidate.plan) &&
         !notePrice(*copy, candidate.plan).failed();
}

/// The plans that hold least as the search counts, one a mesh that may be taken, the least first.
static std::vector<Candidate> listLeast(ModuleOp model, const plan::Plan &plan,
                                        PlanSearch &search) {
  std::vector<Candidate> least;
  for (const plan::Plan &trial : listTrials(model, plan))
    if (const Candidate *found = search.attempt(model, trial, /*leastMemory=*/true);
        found && found->status == PlanStatus::Applied)
      least.push_back(*found);
  llvm::sort(least, [](const Candidate &a, const Candidate &b) {
    return std::pair(a.plan.prediction().memory_bytes(), a.number) <
           std::pair(b.plan.prediction().memory_bytes(), b.number);
  });
  least.resize(std::min(least.size(), numLeast));
  return least;
}

/// A plan that holds hardly more than that which holds least: so many times as much.
static Candidate searchNear(ModuleOp model, PlanSearch &search, const Candidate &least,
                            double times) {
  const plan::Prediction &expected = least.plan.prediction();
  plan::Plan trial = withoutSearch(least.plan);
  trial.set_memory_limit(static_cast<int64_t>(times * expected.memory_bytes()));
  const Candidate *found = search.attempt(model, trial);
  Candidate near = found ? *found : Candidate();
  near.plan.set_memory_limit(least.plan.memory_limit());
  near.plan.mutable_prediction()->set_memory_limit_bytes(expected.memory_limit_bytes());
  return near;
}

/// Programs allocate more than the search counts, and what it counts least is no program that
/// allocates least: of some plans that hold little the one whose program does, or the first one
/// that fits. None where there is no plan.
static std::optional<Candidate> findSmallest(ModuleOp model, const plan::Plan &plan) {
  PlanSearch search(timeBudget);
  std::vector<Candidate> least = listLeast(model, plan, search);
  std::optional<Candidate> smallest;
  auto look = [&](Candidate candidate) {
    if (!simulate(model, candidate))
      return;
    double bytes = candidate.plan.prediction().allocated_bytes();
    if (!smallest || bytes < smallest->plan.prediction().allocated_bytes())
      smallest = std::move(candidate);
  };
  for (double times : nearLeast)
    for (const Candidate &candidate : least)
      if (!smallest || !smallest->fits())
        look(searchNear(model, search, candidate, times));
  for (Candidate &candidate : least) {
    if (smallest && smallest->fits())
      break;
    plan::Prediction &expected = *candidate.plan.mutable_prediction();
    expected.set_step_seconds(0); // the search counted bytes
    expected.set_lower_bound_seconds(0);
    look(candidate);
  }
  return smallest;
}

void Explanation::tellOwners(Candidate &least) {
  OwningOpRef<ModuleOp> copy(model.clone());
  std::optional<PlannedModule> planned = applyQuietly(*copy, least.plan);
  if (!planned)
    return;
  Result<PlanAnswer> answer = answerPlan(*copy, *planned, least.plan);
  if (answer.failed() || !answer->priced)
    return;
  const Simulation::RankClass &fullest = answer->priced->getFullest();
  least.plan.mutable_prediction()->set_allocated_bytes(static_cast<double>(fullest.peakBytes));
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
  note(model, fmt::format("{} of mesh {} allocates {} where least is held: {}", place,
                          describeMesh(least.plan.meshes(0)),
                          describeBytes(static_cast<double>(fullest.peakBytes)),
                          fmt::join(classes, ", ")));
  note(model, fmt::format("the largest owners there: {}", fmt::join(owners, ", ")));
}

void Explanation::tellFitting(const std::string &option, const Candidate &found) {
  note(model,
       fmt::format("{} would fit: on mesh {} a device allocates {}, and a step takes {:.4g} s",
                   option, describeMesh(found.plan.meshes(0)),
                   describeBytes(found.plan.prediction().allocated_bytes()), found.getSeconds()));
}

/// The best plan whose program fits.
std::optional<Candidate> Explanation::findBest(const plan::Plan &trial) {
  PlanSearch search(timeBudget, /*shortlist=*/1);
  for (const plan::Plan &open : listTrials(model, trial))
    search.attempt(model, open);
  search.settle([&](const plan::Plan &) { return OwningOpRef<ModuleOp>(model.clone()); });
  if (search.getCandidates().empty() || !search.getCandidates().front().fits())
    return std::nullopt;
  return search.getCandidates().front();
}

/// As much memory as the search counts where least is held, or, where programs of that need more,
/// as much as the program of the least allocates.
void Explanation::tryMemory(const Candidate &least) {
  double counted = least.plan.prediction().memory_bytes();
  double allocated = std::max(counted, least.plan.prediction().allocated_bytes());
  for (double share : {0.0, 0.5, 1.0}) {
    double bytes = headroom * (counted + share * (allocated - counted));
    bool isLarge = bytes >= 1 << 30; // told in whole mebibytes
    int64_t number = static_cast<int64_t>(bytes / (isLarge ? 1 << 20 : 1 << 10)) + 1;
    plan::Plan trial = plan;
    trial.set_memory_limit(number << (isLarge ? 20 : 10));
    std::optional<Candidate> found = findBest(trial);
    if (!found && share == 1)
      found = findFitting(model, trial);
    if (found)
      return tellFitting(fmt::format("--memory {}{}", number, isLarge ? "MiB" : "KiB"), *found);
  }
}

/// Twice as many devices of the same kind, and so on.
void Explanation::tryDevices() {
  auto [name, count] = llvm::StringRef(plan.cluster()).rsplit(':');
  int64_t number = 0;
  if (count.getAsInteger(10, number) || name.contains('+') || plan.meshes_size() != 1)
    return;
  bool isPinned = llvm::any_of(plan.decisions(), [](const plan::Decision &decision) {
    return decision.origin() == plan::USER;
  });
  for (int64_t factor = 2; factor <= maxFactor; factor *= 2) {
    plan::Plan trial = plan;
    trial.set_cluster(fmt::format("{}:{}", name.str(), number * factor));
    if (!isPinned)
      trial.mutable_meshes(0)->clear_axes();
    if (std::optional<Candidate> found = findBest(trial))
      return tellFitting("--cluster " + trial.cluster(), *found);
  }
}

/// What is computed again, in how many microbatches, so that it fits.
std::optional<Candidate> Explanation::findTraining() {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  PlanSearch search(timeBudget, /*shortlist=*/1);
  plan::Plan trial = plan;
  trial.mutable_training()->set_recompute(plan::Training::AUTO);
  trial.mutable_training()->set_accumulate(0);
  if (chooseTraining(untrained, trial, search).failed() || search.getCandidates().empty() ||
      !search.getCandidates().front().fits())
    return std::nullopt;
  return search.getCandidates().front();
}

void Explanation::tryTraining() {
  if (!untrained || needsTrainingChoice(plan))
    return;
  std::optional<Candidate> found = findTraining();
  if (!found)
    return;
  const plan::Training &training = found->plan.training();
  tellFitting(
      fmt::format("--recompute {} --accumulate {}",
                  llvm::StringRef(plan::Training::Recompute_Name(training.recompute())).lower(),
                  std::max<int64_t>(1, training.accumulate())),
      *found);
}

void Explanation::run() {
  std::optional<Candidate> least = findSmallest(model, plan);
  if (!least)
    return;
  tellOwners(*least);
  tryMemory(*least);
  tryDevices();
  tryTraining();
}

std::optional<Candidate> weft::findFitting(ModuleOp model, const plan::Plan &plan) {
  std::optional<Candidate> smallest = findSmallest(model, plan);
  return smallest && smallest->fits() ? std::move(smallest) : std::nullopt;
}

void weft::explainInfeasible(ModuleOp model, ModuleOp untrained, const plan::Plan &plan) {
  Explanation(model, untrained, plan).run();
}
