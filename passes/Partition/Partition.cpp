#include "passes/Partition/Passes.h"

#include "compiler/Sharding/Partitioner.h"
#include "passes/Partition/ChannelPaths.h"

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

/// A mesh of a single device.
static dist::MeshOp addMesh(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return dist::MeshOp::create(builder, module.getLoc(), "mesh", builder.getArrayAttr({}),
                              DenseI64ArrayAttr(), /*first_device=*/0);
}

void Partition::runOnOperation() {
  std::optional<Parts> parts = getParts(getOperation());
  if (parts && !parts->channels.empty()) {
    separateChannels(*parts);
    parts = getParts(getOperation());
  }
  if (!parts)
    return signalPassFailure();
  if (!parts->reductions.empty()) {
    parts->reductions.front().emitOpError(
        "expected reductions over meshes to be parts (--weft-expand-cross-mesh-reductions)");
    return signalPassFailure();
  }
  for (Part &part : parts->parts)
    if (!part.mesh)
      part.mesh = addMesh(getOperation());
  ChannelPaths channels(*parts);
  channels.annotate();
  for (const Part &part : parts->parts)
    if (failed(Partitioner(part.function, part.mesh).run()))
      return signalPassFailure();
  if (parts->parts.front().call)
    channels.rewriteMain();
}
