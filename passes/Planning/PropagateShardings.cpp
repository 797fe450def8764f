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
    std::optional<PlannedModule> planned = readModule();
    if (!planned) {
      state->status = PlanStatus::Infeasible;
      return signalPassFailure();
    }
    planned->propagate();
    planned->annotate();
    state->planned = std::move(planned);
  }

private:
  std::optional<PlannedModule> readModule() {
    std::optional<PlannedModule> read = std::exchange(state->read, std::nullopt);
    if (!read)
      return PlannedModule::get(getOperation());
    return succeeded(read->readAgain()) ? std::move(read) : std::nullopt;
  }

  std::shared_ptr<PlanState> state = std::make_shared<PlanState>();
};
} // namespace

std::unique_ptr<Pass> weft::createPropagateShardings(std::shared_ptr<PlanState> state) {
  return std::make_unique<PropagateShardings>(std::move(state));
}
