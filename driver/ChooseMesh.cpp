#include "driver/ChooseMesh.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/Topology.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Sharding/FactorDims.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace weft;

/// Between `data` and `model`: experts exchange tokens more often than gradients are summed.
static constexpr llvm::StringLiteral expertAxis = "expert";

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

/// Whether people put anything on an axis.
static bool isPinned(const plan::Plan &plan, StringRef axis) {
  return llvm::any_of(plan.decisions(), [&](const plan::Decision &decision) {
    return llvm::any_of(decision.sharding().dims(), [&](const plan::DimSharding &dim) {
      return llvm::any_of(dim.axes(), [&](const plan::AxisRef &ref) { return ref.name() == axis; });
    });
  });
}

static bool hasAxis(const plan::Mesh &mesh, StringRef name) {
  return llvm::any_of(mesh.axes(), [&](const plan::Axis &axis) { return axis.name() == name; });
}

/// Whether a value is a weight, or made of one alone.
static bool isOfWeight(Value value) {
  Operation *source = value.getDefiningOp();
  while (source && !isa<LoadOp>(source) && source->getNumOperands() == 1)
    source = source->getOperand(0).getDefiningOp();
  return isa_and_nonnull<LoadOp>(source);
}

/// How many experts a model has: matrices of a weight of which each multiplies rows of its own, by
/// a factor that all operands share and none reduces; the fewest where layers differ, 0: none.
static int64_t countExperts(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](FactorRuleOpInterface op) {
    if (op->getNumOperands() < 2 || llvm::none_of(op->getOperands(), isOfWeight))
      return;
    FactorRule rule = op.getFactorRule();
    auto isOfAll = [&](FactorKind kind, unsigned factor) {
      return rule.factors[factor].kind == kind && rule.factors[factor].size > 1 &&
             llvm::all_of(rule.operands,
                          [&](const TensorFactors &own) { return hasFactor(own, factor); });
    };
    auto factors = llvm::seq<unsigned>(0, rule.factors.size());
    if (llvm::none_of(factors, [&](unsigned it) { return isOfAll(FactorKind::Reduction, it); }))
      return;
    for (unsigned factor : factors)
      if (int64_t size = rule.factors[factor].size; isOfAll(FactorKind::Parallel, factor))
        count = count == 0 ? size : std::min(count, size);
  });
  return count;
}

/// The axes of meshes that are tried.
static plan::Mesh nameAxes(const plan::Plan &plan, bool hasExperts) {
  plan::Mesh named = plan.meshes(0);
  hasExperts &= named.axes().empty();
  if (named.axes().empty())
    for (const char *name : {"data", "model"})
      named.add_axes()->set_name(name);
  if (hasAxis(named, expertAxis) || !(hasExperts || isPinned(plan, expertAxis)))
    return named;
  named.add_axes()->set_name(expertAxis.str());
  int last = named.axes_size() - 1;
  if (last > 0 && named.axes(last - 1).name() == "model")
    named.mutable_axes()->SwapElements(last - 1, last);
  return named;
}

/// Leaves of the meshes with an axis of experts one for each degree of `data`: that of most
/// experts' devices, evenly, beside both others. Without `model`, an axis of experts is what that
/// would be; with less of it there are many, each of which takes long to search.
static void keepExpertMeshes(std::vector<plan::Mesh> &meshes, int64_t experts) {
  std::map<int64_t, int64_t> most; // devices of experts, by those of data
  auto isTried = [&](const plan::Mesh &mesh) {
    return mesh.axes_size() == 3 && experts % mesh.axes(1).size() == 0;
  };
  for (const plan::Mesh &mesh : meshes)
    if (isTried(mesh)) {
      int64_t &size = most[mesh.axes(0).size()];
      size = std::max(size, mesh.axes(1).size());
    }
  llvm::erase_if(meshes, [&](const plan::Mesh &mesh) {
    return hasAxis(mesh, expertAxis) &&
           (!isTried(mesh) || mesh.axes(1).size() != most[mesh.axes(0).size()]);
  });
}

/// Says of meshes of which none has the axes of all pins which pin they lack an axis for.
static Outcome refusePins(ModuleOp module, const plan::Plan &plan, const plan::Mesh &named,
                          ArrayRef<plan::Mesh> meshes) {
  std::string pinned, first;
  for (const plan::Axis &axis : named.axes())
    if (axis.size() > 0)
      pinned += (pinned.empty() ? " with " : ",") + axis.name() + "=" + std::to_string(axis.size());
  for (const plan::Decision &decision : plan.decisions())
    if (llvm::none_of(meshes,
                      [&](const plan::Mesh &mesh) { return checkAxes(decision, mesh).empty(); }))
      first = first.empty() ? "the one for '" + decision.value() + "'" : first;
  return fail(*module.getContext(), ErrorKind::Infeasible,
              "no mesh of the devices of " + plan.cluster() + pinned +
                  " has the axes that --shard pins name" + (first.empty() ? "" : ": ") + first);
}

Result<std::vector<plan::Mesh>> weft::listMeshes(ModuleOp module, const plan::Plan &plan) {
  if (!isOpen(plan.meshes(0)))
    return std::vector<plan::Mesh>{plan.meshes(0)};
  std::string problem;
  std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
  if (!description)
    return fail(*module.getContext(), ErrorKind::Usage, "--cluster: " + problem);
  int64_t experts = countExperts(module);
  plan::Mesh named = nameAxes(plan, experts > 0);
  std::vector<plan::Mesh> meshes, fitting;
  int64_t devices = makeClusterModel(*description).groups.front().getNumDevices();
  ::listMeshes(named, 0, devices / std::max<int64_t>(plan.stages(), 1), meshes);
  // What is no axis of any mesh is a slip, of which the check of the whole plan tells.
  bool isSlip = llvm::any_of(plan.decisions(), [&](const plan::Decision &decision) {
    return llvm::any_of(decision.sharding().dims(), [&](const plan::DimSharding &dim) {
      return llvm::any_of(dim.axes(),
                          [&](const plan::AxisRef &ref) { return !hasAxis(named, ref.name()); });
    });
  });
  if (plan.meshes(0).axes().empty() && !isPinned(plan, expertAxis))
    keepExpertMeshes(meshes, experts);
  llvm::copy_if(meshes, std::back_inserter(fitting), [&](const plan::Mesh &mesh) {
    return llvm::all_of(plan.decisions(), [&](const plan::Decision &decision) {
      return checkAxes(decision, mesh).empty();
    });
  });
  if (isSlip)
    return meshes;
  return fitting.empty() ? Result<std::vector<plan::Mesh>>(refusePins(module, plan, named, meshes))
                         : fitting;
}
