#include "driver/LeastPlans.h"

#include "driver/ChooseMesh.h"
#include "driver/Diagnostics.h"
#include "driver/StepTrials.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <tuple>

using namespace mlir;
using namespace weft;

/// s in which plans are looked for.
static constexpr double timeBudget = 60;

/// Of the least that the search counts, what it is asked to keep to, one after the other.
static constexpr double nearLeast[] = {leastHeadroom, 1.1, 1.25, 1.5};

/// Times what may be held: where one program of a mesh that holds little allocates more, none fits.
static constexpr double farTooMuch = 1.5;

/// Times the least of all meshes: one on which the search counts more is not looked at.
static constexpr double farFromLeast = 1.05;

/// Meshes whose plans of least memory are lowered; of short models, where all of them are once, to
/// which more is left.
static constexpr size_t numLeast = 2;

/// Short programs that are made together, on one thread or more.
static constexpr size_t simulatedAtOnce = 2;

//===----------------------------------------------------------------------===//
// Of whole models
//===----------------------------------------------------------------------===//

std::vector<plan::Plan> weft::listTrials(ModuleOp model, const plan::Plan &plan) {
  QuietDiagnostics quiet(model.getContext());
  if (plan.meshes_size() != 1) // parts have theirs
    return {plan};
  std::vector<plan::Plan> trials;
  if (Result<std::vector<plan::Mesh>> meshes = listMeshes(model, plan); !meshes.failed())
    for (const plan::Mesh &mesh : *meshes)
      trials.push_back(withMesh(plan, mesh));
  return trials;
}

bool weft::simulateWhole(ModuleOp model, Candidate &candidate) {
  QuietDiagnostics quiet(model.getContext());
  OwningOpRef<ModuleOp> copy(model.clone());
  std::optional<PlannedModule> planned;
  if (candidate.status == PlanStatus::Applied)
    planned = candidate.isOpen ? applyKnown(*copy, candidate) : applyQuietly(*copy, candidate.plan);
  return planned && !notePrice(*copy, candidate.plan).failed();
}

/// Those of candidates that are plans, the least as the search counts first.
static std::vector<Candidate> sortLeast(std::vector<Candidate> least) {
  llvm::erase_if(least, [](const Candidate &each) { return each.status != PlanStatus::Applied; });
  llvm::sort(least, [](const Candidate &a, const Candidate &b) { return a.isSmallerThan(b); });
  return least;
}

/// Of plans in that order those that hold hardly more than the first.
static void dropLarge(std::vector<Candidate> &least) {
  auto bytes = [](const Candidate &each) { return each.plan.prediction().memory_bytes(); };
  llvm::erase_if(least, [most = least.empty() ? 0 : farFromLeast * bytes(least.front()),
                         bytes](const Candidate &each) { return bytes(each) > most; });
}

/// The first few plans that hold least as the search counts, one a mesh that may be taken.
static std::vector<Candidate> listLeast(ModuleOp model, const plan::Plan &plan,
                                        PlanSearch &search) {
  std::vector<Candidate> least;
  for (const plan::Plan &trial : listTrials(model, plan))
    if (const Candidate *found = search.attempt(model, trial, /*leastMemory=*/true))
      least.push_back(*found);
  least = sortLeast(std::move(least));
  least.resize(std::min(least.size(), numLeast));
  return least;
}

/// What asks for a plan that holds hardly more than that which holds least: so many times as much.
static plan::Plan askNear(const plan::Plan &least, double times) {
  plan::Plan near = withoutSearch(least);
  near.set_memory_limit(static_cast<int64_t>(times * least.prediction().memory_bytes()));
  return near;
}

/// What devices may hold, not what a plan near the least was held to.
static void restoreLimit(plan::Plan &near, const plan::Plan &least) {
  near.set_memory_limit(least.memory_limit());
  near.mutable_prediction()->set_memory_limit_bytes(least.prediction().memory_limit_bytes());
}

static Candidate searchNear(ModuleOp model, PlanSearch &search, const Candidate &least,
                            double times) {
  const Candidate *found = search.attempt(model, askNear(least.plan, times));
  Candidate near = found ? *found : Candidate();
  restoreLimit(near.plan, least.plan);
  return near;
}

/// Looks at the programs of several plans: they allocate more than the search counts, and what it
/// counts least is no program that allocates least.
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

/// Plans that hold hardly more than those that hold least, with what their programs allocate.
static std::vector<Candidate> simulateNear(StepTrials &trials, ArrayRef<Candidate> least,
                                           double times, unsigned threads) {
  std::vector<Candidate> near(least.begin(), least.end());
  llvm::SmallVector<Candidate *> all;
  for (Candidate &candidate : near) {
    candidate.plan = askNear(candidate.plan, times);
    all.push_back(&candidate);
  }
  for (ArrayRef<Candidate *> left = all; !left.empty();) {
    ArrayRef<Candidate *> some = left.take_front(simulatedAtOnce);
    std::vector<bool> isDone = trials.simulate(some, Programs::All, timeBudget, threads);
    for (auto [candidate, done] : llvm::zip_equal(some, isDone))
      if (!done)
        candidate->status = PlanStatus::Infeasible;
    left = left.drop_front(some.size());
  }
  for (auto [candidate, before] : llvm::zip_equal(near, least))
    restoreLimit(candidate.plan, before.plan);
  return near;
}

/// Of plans that hold least the few whose programs, as those near them say, allocate least.
static std::vector<Candidate> takeSmallest(ArrayRef<Candidate> least, ArrayRef<Candidate> near) {
  std::vector<size_t> order(least.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    auto key = [&](size_t i) {
      return std::tuple(near[i].status != PlanStatus::Applied,
                        near[i].plan.prediction().allocated_bytes(), i);
    };
    return key(a) < key(b);
  });
  std::vector<Candidate> smallest;
  for (size_t i : ArrayRef(order).take_front(numLeast))
    smallest.push_back(least[i]);
  return smallest;
}

/// Whether a program allocates so much that none of the same mesh fits.
static bool isFarTooLarge(const Candidate &candidate) {
  const plan::Prediction &expected = candidate.plan.prediction();
  return expected.allocated_bytes() > farTooMuch * expected.memory_limit_bytes();
}

static std::optional<Candidate> findSmallestByShort(const AskedModel &asked,
                                                    const plan::Plan &plan) {
  ModuleOp source = asked.getSource(plan);
  if (!source || plan.meshes_size() != 1)
    return std::nullopt;
  QuietDiagnostics quiet(source.getContext());
  Result<std::vector<plan::Mesh>> meshes = listMeshes(source, plan);
  if (meshes.failed())
    return std::nullopt;
  StepTrials trials(source, plan, *meshes);
  PlanSearch search(timeBudget);
  search.setThreads(asked.threads);
  if (asked.least.empty() && !trials.attempt(plan, search, /*leastMemory=*/true))
    return std::nullopt;
  std::vector<Candidate> least =
      sortLeast(asked.least.empty() ? search.getCandidates() : asked.least.vec());
  dropLarge(least);
  std::optional<Candidate> smallest;
  for (double times : nearLeast) {
    bool isBetter = false; // where what counts more only allocates more, yet more does not help
    std::vector<Candidate> near = simulateNear(trials, least, times, asked.threads);
    least = takeSmallest(least, near);
    for (Candidate &candidate : near) {
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

std::optional<SmallestPlan> weft::findSmallest(const AskedModel &asked, const plan::Plan &plan) {
  if (std::optional<Candidate> found = findSmallestByShort(asked, plan))
    return SmallestPlan{std::move(*found), /*isShort=*/true};
  if (std::optional<Candidate> found = findSmallestWhole(asked.model, plan))
    return SmallestPlan{std::move(*found), /*isShort=*/false};
  return std::nullopt;
}
