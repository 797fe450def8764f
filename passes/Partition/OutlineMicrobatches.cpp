#include "compiler/Sharding/OutlineMicrobatches.h"
#include "compiler/Schedule/Pipelines.h"
#include "compiler/Sharding/OutlineStages.h"

#include "passes/Partition/Passes.h"

namespace weft {
#define GEN_PASS_DEF_OUTLINEMICROBATCHES
#include "passes/Partition/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// What stages are outlined for must be a schedule that programs may have.
static LogicalResult checkSchedule(func::FuncOp main) {
  std::string problem = schedule::checkPipelineName(getPipelineName(main));
  return problem.empty() ? success() : main.emitError() << "weft.training: " << problem;
}

namespace {
struct OutlineMicrobatches : weft::impl::OutlineMicrobatchesBase<OutlineMicrobatches> {
  void runOnOperation() override {
    std::optional<Parts> parts = getParts(getOperation());
    if (!parts)
      return signalPassFailure();
    if (areStages(*parts) &&
        (failed(checkResults(parts->main)) || failed(checkSchedule(parts->main))))
      signalPassFailure();
    else if (areStages(*parts))
      outlineStages(*parts);
    else if (!parts->parts.front().call && failed(outlineMicrobatches(parts->parts.front())))
      signalPassFailure();
  }
};
} // namespace
