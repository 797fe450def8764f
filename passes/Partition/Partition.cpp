#include "passes/Partition/Passes.h"

#include "compiler/Sharding/Partitioner.h"
#include "dialects/Dist/IR/Sharding.h"

namespace weft {
#define GEN_PASS_DEF_PARTITION
#include "passes/Partition/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct Partition : weft::impl::PartitionBase<Partition> {
  void runOnOperation() override;
};
} // namespace

/// The mesh that @main's first annotated value names; the module's only mesh, or a new one of a
/// single device, where no value is annotated. Null after an error.
static dist::MeshOp findMesh(ModuleOp module, func::FuncOp main) {
  dist::ShardingAttr sharding;
  for (BlockArgument argument : main.getArguments())
    if (!sharding)
      sharding = dist::getSharding(argument);
  for (Operation &op : main.getBody().front()) {
    if (sharding)
      break;
    if (op.getNumResults() != 0)
      sharding = dist::getSharding(op.getResult(0));
  }
  if (sharding) {
    dist::MeshOp mesh = dist::lookupMesh(main, sharding.getMesh());
    if (!mesh)
      main.emitOpError() << "expected the name of a dist.mesh, got: " << sharding.getMesh();
    return mesh;
  }
  auto meshes = llvm::to_vector(module.getOps<dist::MeshOp>());
  if (meshes.size() > 1) {
    module.emitError() << "expected shardings that say on which mesh @main runs, got "
                       << meshes.size() << " meshes and no sharding";
    return nullptr;
  }
  if (!meshes.empty())
    return meshes.front();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return dist::MeshOp::create(builder, module.getLoc(), "mesh", builder.getArrayAttr({}),
                              DenseI64ArrayAttr());
}

void Partition::runOnOperation() {
  auto main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() || !main.getBody().hasOneBlock()) {
    getOperation().emitError() << "expected a function @main with a body of one block";
    return signalPassFailure();
  }
  dist::MeshOp mesh = findMesh(getOperation(), main);
  if (!mesh || failed(Partitioner(main, mesh).run()))
    signalPassFailure();
}
