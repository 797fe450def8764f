//===- SelectInstructions.cpp - tensors become instructions over buffers --===//

#include "compiler/Sharding/Microbatches.h"
#include "passes/Lowering/Passes.h"
#include "passes/Lowering/PipelineSchedule.h"
#include "passes/Lowering/Selection.h"

#include "llvm/Support/FormatVariadic.h"

namespace weft {
#define GEN_PASS_DEF_SELECTINSTRUCTIONS
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The storage of a weight in terms of exec.
static Attribute convertStorage(Attribute storage) {
  if (auto external = dyn_cast<ExternalAttr>(storage))
    return exec::ExternalAttr::get(storage.getContext(), external.getPath(), external.getOffset(),
                                   external.getLength());
  return storage;
}

/// Replaces weft.weight by exec.weight.
static void convertWeights(ModuleOp module, OpBuilder &builder) {
  for (WeightOp weight : llvm::make_early_inc_range(module.getOps<WeightOp>())) {
    if (weight->hasAttr(kAccumulatorAttr)) { // is no weight of the program
      weight.erase();
      continue;
    }
    auto type = cast<RankedTensorType>(weight.getType());
    builder.setInsertionPoint(weight);
    exec::WeightOp::create(builder, weight.getLoc(), weight.getSymName(), type.getElementType(),
                           type.getShape(), convertStorage(weight.getStorage()),
                           weight.getKind() == WeightKind::Constant);
    weight.erase();
  }
}

/// Replaces dist.mesh by exec.mesh; a module without one runs on a mesh of no axes: one rank.
static void convertMeshes(ModuleOp module, OpBuilder &builder) {
  for (dist::MeshOp mesh : llvm::make_early_inc_range(module.getOps<dist::MeshOp>())) {
    SmallVector<Attribute> axes;
    for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
      axes.push_back(exec::MeshAxisAttr::get(module.getContext(), axis.getName(), axis.getSize()));
    builder.setInsertionPoint(mesh);
    exec::MeshOp::create(builder, mesh.getLoc(), mesh.getSymName(), builder.getArrayAttr(axes),
                         mesh.getDeviceOrderAttr(), mesh.getFirstDevice());
    mesh.erase();
  }
}

/// An empty program that executes its parts' segments.
static exec::ProgramOp createProgram(ModuleOp module, OpBuilder &builder, Parts &parts,
                                     const PipelineSchedule &schedule, ArrayRef<unsigned> own,
                                     unsigned number) {
  std::string name = llvm::formatv("class{0}", number);
  for (unsigned other = 1; module.lookupSymbol(name); ++other)
    name = llvm::formatv("class{0}_{1}", number, other).str();
  dist::MeshOp mesh = parts.parts[own.front()].mesh;
  int64_t begin = mesh ? mesh.getFirstDevice() : 0, ranks = mesh ? mesh.getNumDevices() : 1;
  auto program = exec::ProgramOp::create(builder, parts.main.getLoc(), name, begin, begin + ranks,
                                         schedule.make(own));
  program.getBody().emplaceBlock();
  return program;
}

/// The numbers of the parts by their mesh, in the order of devices.
static SmallVector<SmallVector<unsigned>> groupByMesh(Parts &parts) {
  SmallVector<SmallVector<unsigned>> groups;
  llvm::DenseMap<Operation *, size_t> known;
  for (auto [number, part] : llvm::enumerate(parts.parts)) {
    auto [group, isNew] = known.try_emplace(part.mesh, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[group->second].push_back(number);
  }
  llvm::sort(groups, [&](const auto &a, const auto &b) {
    dist::MeshOp left = parts.parts[a.front()].mesh, right = parts.parts[b.front()].mesh;
    return left && right && left.getFirstDevice() < right.getFirstDevice();
  });
  return groups;
}

namespace {
struct SelectInstructions : weft::impl::SelectInstructionsBase<SelectInstructions> {
  using SelectInstructionsBase::SelectInstructionsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *chosen = findTarget(target, module);
    if (!chosen)
      return signalPassFailure();
    std::optional<Parts> parts = getParts(module);
    if (!parts)
      return signalPassFailure();
    FailureOr<PipelineSchedule> schedule = PipelineSchedule::get(*parts);
    if (failed(schedule))
      return signalPassFailure();
    OpBuilder builder(parts->main);
    for (auto [number, own] : llvm::enumerate(groupByMesh(*parts))) {
      dist::MeshOp mesh = parts->parts[own.front()].mesh;
      builder.setInsertionPoint(parts->main);
      exec::ProgramOp program = createProgram(module, builder, *parts, *schedule, own, number);
      builder.setInsertionPoint(program);
      Selection selection(module, *parts, own, program,
                          FlatSymbolRefAttr::get(&getContext(), mesh ? mesh.getSymName() : "mesh"),
                          chosen->getKernelMachine());
      if (failed(selection.run(builder)))
        return signalPassFailure();
    }
    bool hasMesh = !module.getOps<dist::MeshOp>().empty();
    convertMeshes(module, builder);
    convertWeights(module, builder);
    builder.setInsertionPointToStart(module.getBody());
    if (!hasMesh)
      exec::MeshOp::create(builder, module.getLoc(), "mesh", builder.getArrayAttr({}),
                           DenseI64ArrayAttr(), /*first_rank=*/0);
    parts->main.erase();
    for (const Part &part : parts->parts)
      if (part.call)
        func::FuncOp(part.function).erase();
  }
};
} // namespace
