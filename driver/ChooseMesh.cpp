#include "driver/ChooseMesh.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/Topology.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// Whether an axis' size, or all axes, are left to the search.
static bool isOpen(const plan::Mesh &mesh) {
  return mesh.axes().empty() ||
         llvm::any_of(mesh.axes(), [](const plan::Axis &axis) { return axis.size() == 0; });
}

bool weft::needsMesh(ModuleOp module, const plan::Plan &plan) {
  return !plan.cluster().empty() && plan.meshes_size() == 1 && isOpen(plan.meshes(0)) &&
         module.getOps<dist::MeshOp>().empty();
}

/// The meshes of so many devices whose first axes are those of `named`, the widest before the
/// others; axes from `axis` on are looked at, whose sizes are open where they are 0.
static void listMeshes(plan::Mesh named, int axis, int64_t devices,
                       std::vector<plan::Mesh> &meshes) {
  if (axis == named.axes_size()) {
    if (devices != 1)
      return;
    plan::Mesh &mesh = meshes.emplace_back(named);
    mesh.clear_axes();
    for (const plan::Axis &each : named.axes())
      if (each.size() > 1)
        *mesh.add_axes() = each;
    return;
  }
  int64_t pinned = named.axes(axis).size();
  for (int64_t rest = 1; rest <= devices; ++rest)
    if (devices % rest == 0 && (pinned == 0 || pinned == devices / rest)) {
      named.mutable_axes(axis)->set_size(devices / rest);
      listMeshes(named, axis + 1, rest, meshes);
    }
}

std::vector<plan::Mesh> weft::listMeshes(ModuleOp module, const plan::Plan &plan) {
  if (!isOpen(plan.meshes(0)))
    return {plan.meshes(0)};
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
  if (!description) {
    emitError(UnknownLoc::get(module.getContext())) << "--cluster: " << problem;
    return {};
  }
  ClusterModel cluster = makeClusterModel(*description);
  plan::Mesh named = plan.meshes(0);
  if (named.axes().empty())
    for (const char *name : {"data", "model"})
      named.add_axes()->set_name(name);
  std::vector<plan::Mesh> meshes;
  ::listMeshes(std::move(named), 0, cluster.groups.front().getNumDevices(), meshes);
  return meshes;
}
