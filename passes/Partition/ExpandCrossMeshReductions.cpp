//===- ExpandCrossMeshReductions.cpp - reductions over meshes as parts ----===//

#include "passes/Partition/Passes.h"

#include "compiler/Sharding/CrossMeshReductions.h"
#include "compiler/Sharding/Parts.h"

namespace weft {
#define GEN_PASS_DEF_EXPANDCROSSMESHREDUCTIONS
#include "passes/Partition/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct ExpandCrossMeshReductions
    : weft::impl::ExpandCrossMeshReductionsBase<ExpandCrossMeshReductions> {
  void runOnOperation() override {
    std::optional<Parts> parts = getParts(getOperation());
    if (!parts)
      return signalPassFailure();
    if (!parts->reductions.empty())
      expandCrossMeshReductions(parts->main);
  }
};
} // namespace
