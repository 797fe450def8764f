#include "compiler/Training/StepControl.h"

#include "compiler/Training/Losses.h"
#include "compiler/Training/Moments.h"

using namespace mlir;
using namespace weft;

Value weft::buildClipFactor(TensorBuilder &b, Value squares, double limit) {
  Value norm = b.make<SqrtOp>(squares);
  Value factor = b.make<DivOp>(b.splat(norm, limit), b.add(norm, b.splat(norm, 1e-6)));
  return b.make<MinOp>(factor, b.splat(factor, 1));
}

Value weft::countStrays(TensorBuilder &b, Value gradient) {
  Value isStray = b.make<OrOp>(b.make<IsInfOp>(gradient), b.make<IsNanOp>(gradient));
  return buildSum(b, b.castTo(isStray, Float32Type::get(gradient.getContext())));
}

Value weft::isZero(TensorBuilder &b, Value scalar) {
  auto type = cast<RankedTensorType>(scalar.getType());
  auto zero =
      DenseElementsAttr::get(type, Builder(scalar.getContext()).getZeroAttr(type.getElementType()));
  return b.make<CompareOp>(CompareDirection::EQ, scalar, b.make<ConstantOp>(zero));
}

Value weft::invert(TensorBuilder &b, Value scalar) { return b.make<ReciprocalOp>(scalar); }

Value weft::selectWhole(TensorBuilder &b, Value condition, Value value, Value other) {
  auto type = withElementType(value.getType(), elementOf(condition));
  return b.make<SelectOp>(b.broadcast(condition, cast<RankedTensorType>(type), {}), value, other);
}

LossScaleState weft::adaptLossScale(TensorBuilder &b, const LossScaleState &old, Value isGood) {
  constexpr int64_t interval = 2000;
  MLIRContext *context = old.steps.getContext();
  Value zero = buildCount(b, context, 0);
  Value next = b.add(old.steps, buildCount(b, context, 1));
  Value grows = b.make<CompareOp>(CompareDirection::GE, next, buildCount(b, context, interval));
  Value grown = selectWhole(b, grows, scaleBy(b, old.scale, 2), old.scale);
  return {selectWhole(b, isGood, grown, scaleBy(b, old.scale, 0.5)),
          selectWhole(b, isGood, selectWhole(b, grows, zero, next), zero)};
}

Value weft::buildCount(TensorBuilder &b, MLIRContext *context, int64_t number) {
  auto type = RankedTensorType::get({}, IntegerType::get(context, 64));
  return b.make<ConstantOp>(DenseElementsAttr::get(type, number));
}
