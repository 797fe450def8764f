//===- DecomposePadding.cpp - masks of padding as selections --------------===//

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/Identity.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "passes/Lowering/Passes.h"

#include <limits>

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEPADDING
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct DecomposePadding : weft::impl::DecomposePaddingBase<DecomposePadding> {
  void runOnOperation() override { getOperation().walk(decompose); }

private:
  static void decompose(dist::MaskPaddingOp op) {
    ImplicitLocOpBuilder builder(op.getLoc(), op);
    TensorBuilder b(builder);
    RankedTensorType type = op.getType();
    auto dim = static_cast<int64_t>(op.getDim()), extent = static_cast<int64_t>(op.getExtent());
    auto scalar = RankedTensorType::get({}, builder.getI64Type());
    auto constant = [&](RankedTensorType type, Attribute value) {
      return b.make<ConstantOp>(DenseElementsAttr::get(type, value));
    };
    Value start = b.make<dist::OffsetOp>(
        scalar, op.getAxes(), builder.getI64IntegerAttr(type.getDimSize(dim)), op.getMeshAttr());
    Value left = b.sub(constant(scalar, builder.getI64IntegerAttr(extent)), start);
    // Positions are compared in lanes of 32 bits, where they fit.
    bool fits = op.getExtent() + type.getDimSize(dim) <= std::numeric_limits<int32_t>::max();
    Type integer = fits ? builder.getI32Type() : builder.getI64Type();
    RankedTensorType positions = type.clone(integer);
    Value limit = b.broadcast(b.castTo(left, integer), positions, {});
    Value position = b.make<IotaOp>(positions, builder.getI64IntegerAttr(dim));
    Value identity = constant(type, getIdentity(op.getReduction(), type.getElementType()));
    Value result = b.selectBelow(position, limit, op.getInput(), identity);
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
};
} // namespace
