#include "driver/ChooseTraining.h"

#include "driver/ChooseMesh.h"
#include "driver/Planning.h"

using namespace mlir;
using namespace weft;

/// More microbatches than this are a sign that nothing fits.
static constexpr int64_t maxMicrobatches = 1024;

bool weft::needsTrainingChoice(const plan::Plan &plan) {
  return !plan.cluster().empty() && plan.has_training() && plan.meshes_size() == 1 &&
         plan.training().recompute() == plan::Training::AUTO;
}

/// A copy of the model as the step that the plan asks for. Null where none can be made.
static OwningOpRef<ModuleOp> makeStep(ModuleOp module, const plan::Plan &plan) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(module.clone());
  if (trainModule(*copy, plan.training(), /*fromFile=*/false).failed())
    return nullptr;
  return copy;
}

/// Tries all ways to compute again with so many microbatches, on all meshes. Tells whether a step
/// of so many can be made, and whether one fits.
static std::pair<bool, bool> tryMicrobatches(ModuleOp module, const plan::Plan &plan, int64_t count,
                                             const std::vector<plan::Mesh> &meshes,
                                             PlanSearch &search) {
  bool isMade = false, fits = false;
  for (auto kind : {plan::Training::NONE, plan::Training::SELECTIVE, plan::Training::FULL}) {
    plan::Plan trial = plan;
    trial.mutable_training()->set_recompute(kind);
    trial.mutable_training()->set_accumulate(count);
    OwningOpRef<ModuleOp> step = makeStep(module, trial);
    for (const plan::Mesh &mesh : step ? meshes : std::vector<plan::Mesh>())
      if (const Candidate *candidate = search.attempt(*step, withMesh(trial, mesh))) {
        isMade = true;
        fits |= candidate->fits();
      }
  }
  return {isMade, fits};
}

Outcome weft::chooseTraining(ModuleOp module, plan::Plan &plan, PlanSearch &search) {
  std::vector<plan::Mesh> meshes = listMeshes(module, plan);
  if (meshes.empty())
    return ErrorKind::Usage;
  int64_t given = plan.training().accumulate();
  for (int64_t count = std::max<int64_t>(given, 1); count <= maxMicrobatches; count *= 2) {
    auto [isMade, fits] = tryMicrobatches(module, plan, count, meshes, search);
    if (!isMade || fits || given > 1)
      break;
  }
  search.settle([&](const plan::Plan &trial) { return makeStep(module, trial); });
  if (search.getCandidates().empty())
    plan.mutable_training()->set_recompute(plan::Training::FULL);
  else
    plan = search.getCandidates().front().plan;
  return Outcome::success();
}
