#include "passes/Planning/PlanState.h"

namespace weft {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct PropagateShardings : weft::impl::PropagateShardingsBase<PropagateShardings> {
  PropagateShardings() = default;
  explicit PropagateShardings(std::shared_ptr<PlanState> state) : state(std::move(state)) {}

  void runOnOperation() override {
    std::optional<PlannedModule> &planned = state->planned;
    if (planned ? failed(planned->readAgain())
                : !(planned = PlannedModule::get(getOperation())).has_value()) {
      planned.reset();
      state->status = PlanStatus::Infeasible;
      return signalPassFailure();
    }
    planned->propagate();
    planned->annotate();
  }

private:
  std::shared_ptr<PlanState> state = std::make_shared<PlanState>();
};
} // namespace

std::unique_ptr<Pass> weft::createPropagateShardings(std::shared_ptr<PlanState> state) {
  return std::make_unique<PropagateShardings>(std::move(state));
}
