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

namespace {
struct TrainingTrial {
  plan::Training training;
  MeshTrial mesh;
};
} // namespace

/// Makes the step of a copy of the model, and searches its meshes. None where no step can be made.
static std::optional<TrainingTrial> tryTraining(ModuleOp module, const plan::Plan &plan,
                                                const plan::Training &training,
                                                const std::vector<plan::Mesh> &meshes) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(module.clone());
  if (trainModule(*copy, training, /*fromFile=*/false).failed())
    return std::nullopt;
  plan::Plan trained = plan;
  *trained.mutable_training() = training;
  return TrainingTrial{training, tryMeshes(*copy, trained, meshes)};
}

/// The best way to compute again with so many microbatches.
static std::optional<TrainingTrial> tryRecomputation(ModuleOp module, const plan::Plan &plan,
                                                     int64_t microbatches,
                                                     const std::vector<plan::Mesh> &meshes) {
  std::optional<TrainingTrial> best;
  for (auto kind : {plan::Training::NONE, plan::Training::SELECTIVE, plan::Training::FULL}) {
    plan::Training training = plan.training();
    training.set_recompute(kind);
    training.set_accumulate(microbatches);
    std::optional<TrainingTrial> trial = tryTraining(module, plan, training, meshes);
    if (trial && (!best || trial->mesh.isBetterThan(best->mesh)))
      best = std::move(trial);
  }
  return best;
}

Outcome weft::chooseTraining(ModuleOp module, plan::Plan &plan) {
  std::vector<plan::Mesh> meshes = listMeshes(module, plan);
  if (meshes.empty())
    return ErrorKind::Usage;
  int64_t given = plan.training().accumulate();
  std::optional<TrainingTrial> best;
  for (int64_t count = std::max<int64_t>(given, 1); count <= maxMicrobatches; count *= 2) {
    std::optional<TrainingTrial> trial = tryRecomputation(module, plan, count, meshes);
    if (trial && (!best || trial->mesh.isBetterThan(best->mesh)))
      best = std::move(trial);
    bool fits = best && best->mesh.status == PlanStatus::Applied;
    if (!trial || fits || given > 1)
      break;
  }
  plan.mutable_training()->set_recompute(best ? best->training.recompute() : plan::Training::FULL);
  if (best) {
    plan.mutable_training()->set_accumulate(best->training.accumulate());
    *plan.mutable_meshes(0) = best->mesh.mesh;
  }
  return Outcome::success();
}
