#include "passes/Planning/Passes.h"

#include "compiler/Sharding/PlannedModule.h"
#include "dialects/Weft/IR/WeftDialect.h"

namespace weft {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct PropagateShardings : weft::impl::PropagateShardingsBase<PropagateShardings> {
  void runOnOperation() override {
    std::optional<PlannedModule> planned = PlannedModule::get(getOperation());
    if (!planned)
      return signalPassFailure();
    planned->propagate();
    planned->annotate();
  }
};
} // namespace
