#include "compiler/Search/SplitMicrobatches.h"

#include "passes/Planning/PlanState.h"

namespace weft {
#define GEN_PASS_DEF_SPLITMICROBATCHES
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct SplitMicrobatches : weft::impl::SplitMicrobatchesBase<SplitMicrobatches> {
  using SplitMicrobatchesBase::SplitMicrobatchesBase;
  explicit SplitMicrobatches(std::shared_ptr<PlanState> state) : state(std::move(state)) {}

  void runOnOperation() override {
    int64_t count = microbatches, stacked = batches;
    if (count == 0 && stacked == 0) {
      auto training = getOperation()->getAttrOfType<DictionaryAttr>("weft.training");
      auto read = [&](StringRef name) {
        auto asked = training ? training.getAs<IntegerAttr>(name) : IntegerAttr();
        return asked ? asked.getInt() : 0;
      };
      count = read("microbatches");
      stacked = read("batches");
    }
    if (succeeded(stacked > 1 ? stackMicrobatches(getOperation(), stacked)
                              : splitMicrobatches(getOperation(), count)))
      return;
    state->status = PlanStatus::Infeasible;
    signalPassFailure();
  }

private:
  std::shared_ptr<PlanState> state = std::make_shared<PlanState>();
};
} // namespace

std::unique_ptr<Pass> weft::createSplitMicrobatches(std::shared_ptr<PlanState> state) {
  return std::make_unique<SplitMicrobatches>(std::move(state));
}
