//===- DecomposeAttention.cpp - attention as products and a softmax -------===//

#include "passes/Lowering/Passes.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

struct DecomposeAttention : weft::impl::DecomposeAttentionBase<DecomposeAttention> {
  void runOnOperation() override {
    decomposeAll(getOperation(),
                 [](Operation *op) { return isa<AttentionOp, AttentionBackwardOp>(op); });
  }
};

} // namespace
