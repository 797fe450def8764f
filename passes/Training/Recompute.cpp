#include "compiler/Training/Recompute.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Training/Passes.h"
#include "passes/Training/Request.h"

namespace weft {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct Recompute : weft::impl::RecomputeBase<Recompute> {
  using RecomputeBase::RecomputeBase;
  void runOnOperation() override;
};
} // namespace

/// The modes to try, by the option's word; none where there is no such word.
static SmallVector<RecomputeMode> findModes(StringRef word) {
  if (word == "none")
    return {RecomputeMode::None};
  if (word == "selective")
    return {RecomputeMode::Selective};
  if (word == "full")
    return {RecomputeMode::Full};
  if (word == "auto")
    return {RecomputeMode::None, RecomputeMode::Selective, RecomputeMode::Full};
  return {};
}

void Recompute::runOnOperation() {
  SmallVector<RecomputeMode> modes = findModes(mode);
  if (modes.empty()) {
    emitRequestError(&getContext())
        << "expected mode to be one of none, selective, full, auto, got: " << mode;
    return signalPassFailure();
  }
  func::FuncOp main = findMain(getOperation());
  if (!main)
    return signalPassFailure();
  std::optional<unsigned> index = findRole(main, "loss");
  Operation *loss =
      index ? main.getBody().front().getTerminator()->getOperand(*index).getDefiningOp() : nullptr;
  if (!loss) {
    main.emitError() << "expected a result of @main with weft.role = \"loss\" that it computes";
    return signalPassFailure();
  }
  for (RecomputeMode each : modes) {
    Residuals residuals(main, loss, each);
    if (each != modes.back() && limit > 0 && residuals.keptBytes > limit)
      continue;
    return recompute(main, loss, residuals);
  }
}
