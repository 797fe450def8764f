#include "passes/Planning/Passes.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Search/ChooseDecisions.h"

namespace weft {
#define GEN_PASS_DEF_CHOOSESHARDINGS
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct ChooseShardings : weft::impl::ChooseShardingsBase<ChooseShardings> {
  void runOnOperation() override {
    std::optional<PlannedModule> planned = PlannedModule::get(getOperation());
    if (!planned)
      return signalPassFailure();
    plan::Plan chosen;
    chooseDecisions(*planned, chosen);
    std::vector<plan::Decision> decisions(chosen.decisions().begin(), chosen.decisions().end());
    if (pinDecisions(getOperation(), planned->main, planned->mesh, decisions) !=
        PlanStatus::Applied)
      signalPassFailure();
  }
};
} // namespace
