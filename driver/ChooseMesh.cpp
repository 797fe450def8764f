#include "driver/ChooseMesh.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/Topology.h"
#include "driver/Planning.h"
#include "passes/Pipelines/Pipelines.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace weft;

bool weft::needsMesh(ModuleOp module, const plan::Plan &plan) {
  return !plan.cluster().empty() && plan.meshes_size() == 1 && plan.meshes(0).axes().empty() &&
         module.getOps<dist::MeshOp>().empty();
}

/// The meshes {data, model} of so many devices, the widest `data` first. Axes of size 1 are left
/// out.
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

namespace {
/// A mesh that was tried.
struct Trial {
  plan::Mesh mesh;
  PlanStatus status = PlanStatus::Infeasible;
  plan::Prediction prediction;
  std::vector<std::string> errors;

  bool isBetterThan(const Trial &other) const {
    auto key = [](const Trial &trial) {
      return std::tuple(trial.status != PlanStatus::Applied, trial.prediction.step_seconds(),
                        trial.prediction.memory_bytes());
    };
    return key(*this) < key(other);
  }
};
} // namespace

/// Plans a copy of the module, quietly.
static Trial tryMesh(ModuleOp module, const plan::Plan &plan, const plan::Mesh &mesh) {
  Trial trial{mesh, PlanStatus::Infeasible, {}, {}};
  ScopedDiagnosticHandler quiet(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      trial.errors.push_back(diagnostic.str());
    return success();
  });
  auto state = std::make_shared<PlanState>();
  state->plan = plan;
  *state->plan.mutable_meshes(0) = mesh;
  for (plan::Decision &decision : *state->plan.mutable_decisions())
    decision.mutable_sharding()->set_mesh(mesh.name());
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager passes(module.getContext());
  buildPlanPipeline(passes, state);
  if (succeeded(passes.run(*copy)))
    trial.status = PlanStatus::Applied;
  else if (state->status != PlanStatus::Applied)
    trial.status = state->status;
  trial.prediction = state->plan.prediction();
  return trial;
}

Outcome weft::chooseMesh(ModuleOp module, plan::Plan &plan) {
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
  if (!description)
    return fail(*module.getContext(), ErrorKind::Usage, "--cluster: " + problem);
  ClusterModel cluster = makeClusterModel(*description);
  std::optional<Trial> best;
  for (const plan::Mesh &mesh : listMeshes(plan.meshes(0), cluster.groups.front().getNumDevices()))
    if (Trial trial = tryMesh(module, plan, mesh); !best || trial.isBetterThan(*best))
      best = std::move(trial);
  if (best->status != PlanStatus::Applied) {
    for (const std::string &error : best->errors)
      emitError(UnknownLoc::get(module.getContext())) << error;
    return toError(best->status, /*fromFile=*/false);
  }
  *plan.mutable_meshes(0) = best->mesh;
  for (plan::Decision &decision : *plan.mutable_decisions())
    decision.mutable_sharding()->set_mesh(best->mesh.name());
  return Outcome::success();
}
