#include "driver/LeastPlans.h"

#include "driver/ChooseMesh.h"
#include "driver/StepTrials.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// s in which plans are looked for.
static constexpr double timeBudget = 60;

/// Of the least that the search counts, what it is asked to keep to: solved again, the answer may
/// lie a little above.
static constexpr double nearLeast[] = {1.01, 1.1, 1.25, 1.5};

/// Of what may be held, what programs of one mesh do not differ by where they hold little.
static constexpr double farTooMuch = 1.5;

/// Meshes whose plans of least memory are lowered.
static constexpr size_t numLeast = 2;

//===----------------------------------------------------------------------===//
// Of whole models
//===----------------------------------------------------------------------===//

/// The plan on each mesh that may be taken.
std::vector<plan::Plan> weft::listTrials(ModuleOp model, const plan::Plan &plan) {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  if (plan.meshes_size() != 1) // parts have theirs
    return {plan};
  std::vector<plan::Plan> trials;
  if (Result<std::vector<plan::Mesh>> meshes = listMeshes(model, plan); !meshes.failed())
    for (const plan::Mesh &mesh : *meshes)
      trials.push_back(withMesh(plan, mesh));
  return trials;
}

bool weft::simulateWhole(ModuleOp model, Candidate &candidate) {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(model.clone());
  std::optional<PlannedModule> planned;
  if (candidate.status == PlanStatus::Applied)
    planned = candidate.isOpen ? applyKnown(*copy, candidate) : applyQuietly(*copy, candidate.plan);
  return planned && !notePrice(*copy, candidate.plan).failed();
}

/// The first few of candidates that are plans, the least as the search counts first.
static std::vector<Candidate> takeLeast(std::vector<Candidate> least) {
  llvm::erase_if(least, [](const Candidate &each) { return each.status != PlanStatus::Applied; });
  llvm::sort(least, [](const Candidate &a, const Candidate &b) { return a.isSmallerThan(b); });
  least.resize(std::min(least.size(), numLeast));
  return least;
}

/// The plans that hold least as the search counts, one a mesh that may be taken, the least first.
static std::vector<Candidate> listLeast(ModuleOp model, const plan::Plan &plan,
                                        PlanSearch &search) {
  std::vector<Candidate> least;
  for (const plan::Plan &trial : listTrials(model, plan))
    if (const Candidate *found = search.attempt(model, trial, /*leastMemory=*/true);
        found && found->status == PlanStatus::Applied)
      least.push_back(*found);
  return takeLeast(std::move(least));
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
static std::optional<Candidate> findSmallestWhole(ModuleOp model, const plan::Plan &plan) {
  PlanSearch search(timeBudget);
  std::vector<Candidate> least = listLeast(model, plan, search);
  std::optional<Candidate> smallest;
  auto look = [&](Candidate candidate) {
    if (!simulateWhole(model, candidate))
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

//===----------------------------------------------------------------------===//
// By short models
//===----------------------------------------------------------------------===//

/// Open candidates that hold hardly more than the least do: so many times as much.
static std::vector<Candidate> simulateNear(StepTrials &trials, ArrayRef<Candidate> least,
                                           double times) {
  std::vector<Candidate> near(least.begin(), least.end());
  llvm::SmallVector<Candidate *> some;
  for (Candidate &candidate : near) {
    double bytes = times * candidate.plan.prediction().memory_bytes();
    candidate.plan = withoutSearch(candidate.plan);
    candidate.plan.set_memory_limit(static_cast<int64_t>(bytes));
    some.push_back(&candidate);
  }
  std::vector<bool> isDone = trials.simulate(some, timeBudget, PlanSearch().getThreads());
  for (auto [candidate, before, done] : llvm::zip_equal(near, least, isDone)) {
    candidate.plan.set_memory_limit(before.plan.memory_limit());
    candidate.plan.mutable_prediction()->set_memory_limit_bytes(
        before.plan.prediction().memory_limit_bytes());
    if (!done)
      candidate.status = PlanStatus::Infeasible;
  }
  return near;
}

/// Whether a program allocates so much that none of the same mesh fits.
static bool isFarTooLarge(const Candidate &candidate) {
  const plan::Prediction &expected = candidate.plan.prediction();
  return expected.allocated_bytes() > farTooMuch * expected.memory_limit_bytes();
}

static std::optional<Candidate> findSmallestShort(const AskedModel &asked, const plan::Plan &plan) {
  ModuleOp source = asked.getSource(plan);
  if (!source || plan.meshes_size() != 1)
    return std::nullopt;
  ScopedDiagnosticHandler quiet(source.getContext(), [](Diagnostic &) { return success(); });
  Result<std::vector<plan::Mesh>> meshes = listMeshes(source, plan);
  if (meshes.failed())
    return std::nullopt;
  StepTrials trials(source, plan, *meshes);
  PlanSearch search(timeBudget);
  if (!trials.attempt(plan, search, /*leastMemory=*/true))
    return std::nullopt;
  std::vector<Candidate> least = takeLeast(search.getCandidates());
  std::optional<Candidate> smallest;
  for (double times : nearLeast) {
    bool isBetter = false; // where what counts more only allocates more, yet more does not help
    for (Candidate &candidate : simulateNear(trials, least, times)) {
      if (candidate.status != PlanStatus::Applied ||
          (smallest && candidate.plan.prediction().allocated_bytes() >=
                           smallest->plan.prediction().allocated_bytes()))
        continue;
      isBetter = true;
      smallest = std::move(candidate);
    }
    if (!isBetter || smallest->fits() || isFarTooLarge(*smallest))
      break;
  }
  return smallest;
}

std::optional<Candidate> weft::findSmallest(const AskedModel &asked, const plan::Plan &plan,
                                            bool isWhole) {
  return isWhole ? findSmallestWhole(asked.model, plan) : findSmallestShort(asked, plan);
}
