#include "driver/ChooseMesh.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/Topology.h"
#include "dialects/Dist/IR/DistDialect.h"

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

Outcome weft::chooseMesh(ModuleOp module, plan::Plan &plan, PlanSearch &search) {
  std::vector<plan::Mesh> meshes = listMeshes(module, plan);
  if (meshes.empty())
    return ErrorKind::Usage;
  for (const plan::Mesh &mesh : meshes)
    search.attempt(module, withMesh(plan, mesh));
  search.settle([&](const plan::Plan &) { return OwningOpRef<ModuleOp>(module.clone()); });
  plan = search.getCandidates().front().plan;
  return Outcome::success();
}
