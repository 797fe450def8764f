#include "compiler/Search/SplitMicrobatches.h"

#include "passes/Planning/Passes.h"

namespace weft {
#define GEN_PASS_DEF_SPLITMICROBATCHES
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct SplitMicrobatches : weft::impl::SplitMicrobatchesBase<SplitMicrobatches> {
  using SplitMicrobatchesBase::SplitMicrobatchesBase;

  void runOnOperation() override {
    int64_t count = microbatches;
    auto training = getOperation()->getAttrOfType<DictionaryAttr>("weft.training");
    if (auto asked = training ? training.getAs<IntegerAttr>("microbatches") : IntegerAttr();
        asked && count == 0)
      count = asked.getInt();
    if (failed(splitMicrobatches(getOperation(), count)))
      signalPassFailure();
  }
};
} // namespace
