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
static constexpr double headroom = 1.01;

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
  std::vector<plan::Mesh> listMeshesOf(const plan::Plan &trial);
  std::optional<Candidate> findLeast();
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

std::vector<plan::Mesh> Explanation::listMeshesOf(const plan::Plan &trial) {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  if (trial.meshes_size() != 1)
    return {};
  Result<std::vector<plan::Mesh>> meshes = listMeshes(model, trial);
  return meshes.failed() ? std::vector<plan::Mesh>() : std::move(*meshes);
}

/// The plan that holds least, of all meshes that may be taken.
std::optional<Candidate> Explanation::findLeast() {
  PlanSearch search(timeBudget);
  for (const plan::Mesh &mesh : listMeshesOf(plan))
    search.attempt(model, withMesh(plan, mesh), /*leastMemory=*/true);
  std::optional<Candidate> least;
  auto getBytes = [](const Candidate &candidate) {
    return candidate.plan.prediction().memory_bytes();
  };
  for (const Candidate &candidate : search.getCandidates())
    if (candidate.status == PlanStatus::Applied &&
        (!least || getBytes(candidate) < getBytes(*least)))
      least = candidate;
  return least;
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
  for (const plan::Mesh &mesh : listMeshesOf(trial))
    search.attempt(model, withMesh(trial, mesh));
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
    if (std::optional<Candidate> found = findBest(trial))
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
  std::optional<Candidate> least = findLeast();
  if (!least)
    return;
  tellOwners(*least);
  tryMemory(*least);
  tryDevices();
  tryTraining();
}

void weft::explainInfeasible(ModuleOp model, ModuleOp untrained, const plan::Plan &plan) {
  Explanation(model, untrained, plan).run();
}
