//===- SelectInstructions.cpp - tensors become instructions over buffers --===//

#include "passes/Lowering/Passes.h"
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

/// An empty program of the ranks [0, ranks) that executes @forward once.
static exec::ProgramOp createProgram(ModuleOp module, OpBuilder &builder, Location loc,
                                     int64_t ranks) {
  std::string name = "class0";
  for (unsigned number = 1; module.lookupSymbol(name); ++number)
    name = llvm::formatv("class0_{0}", number).str();
  auto segment = FlatSymbolRefAttr::get(module.getContext(), "forward");
  auto zero = exec::IndexAttr::get(module.getContext(), 0, {});
  auto entry = exec::ScheduleEntryAttr::get(module.getContext(), segment, exec::Phase::Forward,
                                            /*microbatch=*/zero, /*tokenSlice=*/zero, {});
  auto program = exec::ProgramOp::create(builder, loc, name, 0, ranks, builder.getArrayAttr(entry));
  program.getBody().emplaceBlock();
  return program;
}

namespace {
struct SelectInstructions : weft::impl::SelectInstructionsBase<SelectInstructions> {
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
    std::string mesh = meshes.empty() ? "mesh" : meshes.front().getSymName().str();
    OpBuilder builder(main);
    exec::ProgramOp program = createProgram(module, builder, main.getLoc(),
                                            meshes.empty() ? 1 : meshes.front().getNumDevices());
    builder.setInsertionPoint(program);
    Selection selection(module, main, program, FlatSymbolRefAttr::get(&getContext(), mesh));
    if (failed(selection.run(builder)))
      return signalPassFailure();
    convertMeshes(module, builder);
    convertWeights(module, builder);
    builder.setInsertionPointToStart(module.getBody());
    if (meshes.empty())
      exec::MeshOp::create(builder, module.getLoc(), mesh, builder.getArrayAttr({}),
                           DenseI64ArrayAttr());
    main.erase();
  }
};
} // namespace
