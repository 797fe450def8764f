//===- LowerToExec.cpp - per-device tensors become instructions -----------===//

#include "passes/Lowering/ExecLowering.h"
#include "passes/Lowering/Passes.h"

namespace weft {
#define GEN_PASS_DEF_LOWERTOEXEC
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
                         mesh.getDeviceOrderAttr());
    mesh.erase();
  }
}

namespace {
struct LowerToExec : weft::impl::LowerToExecBase<LowerToExec> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main) {
      module.emitError() << "expected a function @main";
      return signalPassFailure();
    }
    auto meshes = llvm::to_vector(module.getOps<dist::MeshOp>());
    if (meshes.size() > 1) {
      meshes[1].emitError() << "expected one mesh in a program without pipeline stages, got: "
                            << meshes.size();
      return signalPassFailure();
    }
    ExecLowering lowering(module, main);
    if (failed(lowering.run()))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    bool hasMesh = !meshes.empty();
    int64_t ranks = hasMesh ? meshes.front().getNumDevices() : 1;
    convertMeshes(module, builder);
    convertWeights(module, builder);
    builder.setInsertionPointToStart(module.getBody());
    if (!hasMesh)
      exec::MeshOp::create(builder, module.getLoc(), lowering.getMeshName(),
                           builder.getArrayAttr({}), DenseI64ArrayAttr());
    builder.setInsertionPoint(main);
    lowering.emit(builder, ranks);
    main.erase();
  }
};
} // namespace
