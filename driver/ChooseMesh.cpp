#include "driver/ChooseMesh.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/Topology.h"
#include "driver/Planning.h"
#include "passes/Pipelines/Pipelines.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace mlir;
using namespace weft;

bool weft::needsMesh(ModuleOp module, const plan::Plan &plan) {
  return !plan.cluster().empty() && plan.meshes_size() == 1 && plan.meshes(0).axes().empty() &&
         module.getOps<dist::MeshOp>().empty();
}

/// The meshes of so many devices, the widest `data` first. Axes of size 1 are left out.
static std::vector<plan::Mesh> listMeshes(const plan::Mesh &named, int64_t devices) {
  std::vector<plan::Mesh> meshes;
  for (int64_t model = 1; model <= devices; ++model) {
    if (devices % model != 0)
      continue;
    plan::Mesh &mesh = meshes.emplace_back(named);
    for (auto [name, size] : {std::pair("data", devices / model), std::pair("model", model)}) {
      if (size == 1)
        continue;
      plan::Axis &axis = *mesh.add_axes();
      axis.set_name(name);
      axis.set_size(size);
    }
  }
  return meshes;
}

std::vector<plan::Mesh> weft::listMeshes(ModuleOp module, const plan::Plan &plan) {
  if (!plan.meshes(0).axes().empty())
    return {plan.meshes(0)};
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
  if (!description) {
    emitError(UnknownLoc::get(module.getContext())) << "--cluster: " << problem;
    return {};
  }
  ClusterModel cluster = makeClusterModel(*description);
  return ::listMeshes(plan.meshes(0), cluster.groups.front().getNumDevices());
}

bool MeshTrial::isBetterThan(const MeshTrial &other) const {
  auto key = [](const MeshTrial &trial) {
    return std::tuple(trial.status != PlanStatus::Applied, trial.prediction.step_seconds(),
                      trial.prediction.memory_bytes());
  };
  return key(*this) < key(other);
}

/// Gives a plan a mesh, and its pins with it.
static void setMesh(plan::Plan &plan, const plan::Mesh &mesh) {
  *plan.mutable_meshes(0) = mesh;
  for (plan::Decision &decision : *plan.mutable_decisions())
    decision.mutable_sharding()->set_mesh(mesh.name());
}

static MeshTrial tryMesh(ModuleOp module, const plan::Plan &plan, const plan::Mesh &mesh) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  auto state = std::make_shared<PlanState>();
  state->plan = plan;
  state->isTrial = true;
  setMesh(state->plan, mesh);
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager passes(module.getContext());
  buildPlanPipeline(passes, state);
  bool fits = succeeded(passes.run(*copy));
  PlanStatus status = fits                                   ? PlanStatus::Applied
                      : state->status == PlanStatus::Applied ? PlanStatus::Infeasible
                                                             : state->status;
  return {mesh, status, state->plan.prediction()};
}

MeshTrial weft::tryMeshes(ModuleOp module, const plan::Plan &plan,
                          const std::vector<plan::Mesh> &meshes) {
  MeshTrial best = tryMesh(module, plan, meshes.front());
  for (const plan::Mesh &mesh : llvm::drop_begin(meshes))
    if (MeshTrial trial = tryMesh(module, plan, mesh); trial.isBetterThan(best))
      best = std::move(trial);
  return best;
}

Outcome weft::chooseMesh(ModuleOp module, plan::Plan &plan) {
  std::vector<plan::Mesh> meshes = listMeshes(module, plan);
  if (meshes.empty())
    return ErrorKind::Usage;
  setMesh(plan, tryMeshes(module, plan, meshes).mesh); // where none fits, the last words are its
  return Outcome::success();
}
