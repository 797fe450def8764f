#include "compiler/Sharding/SliceTokens.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Partition/Passes.h"

namespace weft {
#define GEN_PASS_DEF_SLICETOKENS
#include "passes/Partition/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct SliceTokens : weft::impl::SliceTokensBase<SliceTokens> {
  void runOnOperation() override {
    if (failed(sliceTokens(getOperation())))
      signalPassFailure();
  }
};
} // namespace
