#include "dialects/Weft/IR/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace weft;

#include "dialects/Weft/IR/ElementwiseInterface.cpp.inc"

Type weft::getComputedType(Type element) {
  if (isNarrowFloat(element))
    return Float32Type::get(element.getContext());
  if (isa<FloatType>(element))
    return element;
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
}

bool weft::isZeroExtended(Type element) {
  return element.isInteger(1) || element.isUnsignedInteger();
}

Type ArithmeticBuilder::withElement(Value like, Type element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? vector.clone(element) : element;
}

static Value makeConstant(ArithmeticBuilder &b, Value like, TypedAttr element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return arith::ConstantOp::create(b, vector ? DenseElementsAttr::get(vector, element) : element);
}

Value ArithmeticBuilder::number(Value like, double number) {
  return makeConstant(*this, like, FloatAttr::get(getElementTypeOrSelf(like), number));
}

Value ArithmeticBuilder::integer(Value like, const APInt &number) {
  return makeConstant(*this, like, IntegerAttr::get(getElementTypeOrSelf(like), number));
}

Value ArithmeticBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return arith::SelectOp::create(*this, condition, onTrue, onFalse);
}

template <typename Float, typename Signed, typename Unsigned = Signed>
static Value make(ArithmeticBuilder &b, Type element, Value lhs, Value rhs) {
  if (isa<FloatType>(element))
    return Float::create(b, lhs, rhs);
  if (isZeroExtended(element))
    return Unsigned::create(b, lhs, rhs);
  return Signed::create(b, lhs, rhs);
}

Value ArithmeticBuilder::join(ReduceKind kind, Type element, Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::Sum:
    return make<arith::AddFOp, arith::AddIOp>(*this, element, lhs, rhs);
  case ReduceKind::Max:
    return make<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(*this, element, lhs, rhs);
  case ReduceKind::Min:
    return make<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(*this, element, lhs, rhs);
  case ReduceKind::Prod:
    return make<arith::MulFOp, arith::MulIOp>(*this, element, lhs, rhs);
  }
  llvm_unreachable("a reduction outside its enum");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The nearest number of a narrower type, ties to even, as f32. bf16 is the upper half of f32, and
/// rounded by hand: few CPUs have an instruction for it.
Value ArithmeticBuilder::roundTo(Type narrow, Value value) {
  if (narrow.isF16()) {
    Value half = arith::TruncFOp::create(*this, withElement(value, narrow), value);
    return arith::ExtFOp::create(*this, value.getType(), half);
  }
  Value bits = arith::BitcastOp::create(*this, withElement(value, getI32Type()), value);
  auto constant = [&](uint32_t number) { return integer(bits, APInt(32, number)); };
  Value odd =
      arith::AndIOp::create(*this, arith::ShRUIOp::create(*this, bits, constant(16)), constant(1));
  Value carry = arith::AddIOp::create(*this, odd, constant(0x7fff));
  Value rounded =
      arith::AndIOp::create(*this, arith::AddIOp::create(*this, bits, carry), constant(0xffff0000));
  Value isNan = arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, value, value);
  return arith::BitcastOp::create(*this, value.getType(),
                                  select(isNan, constant(0x7fc00000), rounded));
}

/// Saturating: what lies outside the type's range becomes its end.
Value ArithmeticBuilder::toInteger(Type to, Value value) {
  bool hasSign = !isZeroExtended(to);
  unsigned width = to.getIntOrFloatBitWidth();
  Type type = withElement(value, getComputedType(to));
  Value result = hasSign ? arith::FPToSIOp::create(*this, type, value).getResult()
                         : arith::FPToUIOp::create(*this, type, value).getResult();
  // Both limits are powers of two, which every float type holds.
  double above = std::ldexp(1.0, hasSign ? width - 1 : width), below = hasSign ? -above : 0;
  auto compare = [&](arith::CmpFPredicate predicate, double limit) {
    return arith::CmpFOp::create(*this, predicate, value, number(value, limit)).getResult();
  };
  APInt most = hasSign ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  APInt least = hasSign ? APInt::getSignedMinValue(width) : APInt::getZero(width);
  result = select(compare(arith::CmpFPredicate::OGE, above), integer(result, most), result);
  result = select(compare(arith::CmpFPredicate::OLT, below), integer(result, least), result);
  Value isNan = arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, value, value);
  return select(isNan, integer(result, APInt::getZero(width)), result);
}

Value ArithmeticBuilder::cast(Type from, Type to, Value value) {
  Type type = withElement(value, getComputedType(to));
  bool isFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (from == to)
    return value;
  if (to.isInteger(1)) {
    if (isFloat)
      return arith::CmpFOp::create(*this, arith::CmpFPredicate::UNE, value, number(value, 0));
    Value zero = integer(value, APInt::getZero(from.getIntOrFloatBitWidth()));
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, value, zero);
  }
  if (isFloat && !toFloat)
    return toInteger(to, value);
  unsigned before = getComputedType(from).getIntOrFloatBitWidth(),
           after = getComputedType(to).getIntOrFloatBitWidth();
  if (isFloat && before < after)
    value = arith::ExtFOp::create(*this, type, value);
  else if (isFloat && before > after)
    value = arith::TruncFOp::create(*this, type, value);
  else if (toFloat && isZeroExtended(from))
    value = arith::UIToFPOp::create(*this, type, value);
  else if (toFloat && !isFloat)
    value = arith::SIToFPOp::create(*this, type, value);
  else if (!toFloat && before > after)
    value = arith::TruncIOp::create(*this, type, value);
  else if (!toFloat && before < after)
    value = isZeroExtended(from) ? arith::ExtUIOp::create(*this, type, value).getResult()
                                 : arith::ExtSIOp::create(*this, type, value).getResult();
  return isNarrowFloat(to) ? roundTo(to, value) : value;
}
