// What elementwise operations compute (WeftElementwise.td), one case an operation, alphabetical.

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// An integer of as many bits as the value's elements have.
static Value integer(ArithmeticBuilder &b, Value like, int64_t number) {
  unsigned width = getElementTypeOrSelf(like).getIntOrFloatBitWidth();
  return b.integer(like, APInt(width, number, /*isSigned=*/true, /*implicitTrunc=*/true));
}

static Value compare(ArithmeticBuilder &b, arith::CmpFPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpFOp::create(b, predicate, lhs, rhs);
}
static Value compare(ArithmeticBuilder &b, arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, predicate, lhs, rhs);
}

/// Division by zero gives all bits set, and the dividend as remainder.
template <typename Signed, typename Unsigned>
static Value divide(ArithmeticBuilder &b, bool hasSign, Value lhs, Value rhs, Value ofZero,
                    Value ofMinusOne) {
  Value zero = integer(b, rhs, 0), one = integer(b, rhs, 1), minusOne = integer(b, rhs, -1);
  Value byZero = compare(b, arith::CmpIPredicate::eq, rhs, zero);
  if (!hasSign) {
    Value result = Unsigned::create(b, lhs, b.select(byZero, one, rhs));
    return b.select(byZero, ofZero, result);
  }
  // The least integer by -1 overflows: -1 is a case of its own.
  Value byMinusOne = compare(b, arith::CmpIPredicate::eq, rhs, minusOne);
  Value divisor = b.select(arith::OrIOp::create(b, byZero, byMinusOne), one, rhs);
  Value result = Signed::create(b, lhs, divisor);
  return b.select(byZero, ofZero, b.select(byMinusOne, ofMinusOne, result));
}

/// 1 / (1 + exp(-x)).
static Value buildSigmoid(ArithmeticBuilder &b, Value x) {
  Value one = b.number(x, 1);
  Value exponential = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, exponential));
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Value AbsOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Type element = elementOf(getInput());
  if (isa<FloatType>(element))
    return math::AbsFOp::create(b, in[0]);
  return isZeroExtended(element) ? in[0] : math::AbsIOp::create(b, in[0]).getResult();
}

Value AcosOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::AcosOp::create(b, in[0]);
}

Value AsinOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::AsinOp::create(b, in[0]);
}

Value AtanOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::AtanOp::create(b, in[0]);
}

Value BarrierOp::buildArithmetic(ArithmeticBuilder &, ValueRange in) { return in[0]; }

Value CbrtOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::CbrtOp::create(b, in[0]);
}

Value CeilOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::CeilOp::create(b, in[0]);
}

Value CosOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::CosOp::create(b, in[0]);
}

Value CoshOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::CoshOp::create(b, in[0]);
}

Value CountLeadingZerosOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::CountLeadingZerosOp::create(b, in[0]);
}

Value ErfOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::ErfOp::create(b, in[0]);
}

Value ExpOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::ExpOp::create(b, in[0]);
}

Value Expm1Op::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::ExpM1Op::create(b, in[0]);
}

Value FloorOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::FloorOp::create(b, in[0]);
}

Value GeluOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Value x = in[0];
  auto times = [&](Value lhs, Value rhs) -> Value { return arith::MulFOp::create(b, lhs, rhs); };
  auto plusOne = [&](Value of) -> Value { return arith::AddFOp::create(b, b.number(x, 1), of); };
  if (getForm() == GeluForm::Erf) {
    Value erf = math::ErfOp::create(b, times(x, b.number(x, 0.70710678118654752440)));
    return times(times(x, b.number(x, 0.5)), plusOne(erf));
  }
  // x/2 · (1 + tanh u) = x · sigmoid(2u), with u = √(2/π)·x·(1 + 0.044715·x²).
  Value factor = plusOne(times(times(x, x), b.number(x, 0.044715)));
  Value u2 = times(times(x, b.number(x, 1.59576912160573071176)), factor);
  return times(x, buildSigmoid(b, u2));
}

Value IsInfOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Value infinity = b.number(in[0], std::numeric_limits<double>::infinity());
  return compare(b, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, in[0]), infinity);
}

Value IsNanOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return compare(b, arith::CmpFPredicate::UNO, in[0], in[0]);
}

Value LogOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::LogOp::create(b, in[0]);
}

Value Log1pOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::Log1pOp::create(b, in[0]);
}

Value NegOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  if (isa<FloatType>(elementOf(getInput())))
    return arith::NegFOp::create(b, in[0]);
  return arith::SubIOp::create(b, integer(b, in[0], 0), in[0]);
}

Value NotOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return arith::XOrIOp::create(b, in[0], integer(b, in[0], -1));
}

Value PopcountOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::CtPopOp::create(b, in[0]);
}

Value ReciprocalOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return arith::DivFOp::create(b, b.number(in[0], 1), in[0]);
}

Value RoundOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::RoundEvenOp::create(b, in[0]);
}

Value RsqrtOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::RsqrtOp::create(b, in[0]);
}

Value SigmoidOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return buildSigmoid(b, in[0]);
}

/// Zeros of both signs, and NaN, are their own signs.
Value SignOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Value x = in[0];
  Type element = elementOf(getInput());
  if (isa<FloatType>(element)) {
    Value zero = b.number(x, 0);
    Value isBelow = compare(b, arith::CmpFPredicate::OLT, x, zero);
    Value isAbove = compare(b, arith::CmpFPredicate::OGT, x, zero);
    return b.select(isAbove, b.number(x, 1), b.select(isBelow, b.number(x, -1), x));
  }
  Value zero = integer(b, x, 0);
  Value isThere = compare(b, arith::CmpIPredicate::ne, x, zero);
  Value positive = b.select(isThere, integer(b, x, 1), zero);
  if (isZeroExtended(element))
    return positive;
  return b.select(compare(b, arith::CmpIPredicate::slt, x, zero), integer(b, x, -1), positive);
}

Value SinOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::SinOp::create(b, in[0]);
}

Value SinhOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::SinhOp::create(b, in[0]);
}

Value SqrtOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::SqrtOp::create(b, in[0]);
}

Value StopGradientOp::buildArithmetic(ArithmeticBuilder &, ValueRange in) { return in[0]; }

Value TanOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::TanOp::create(b, in[0]);
}

Value TanhOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::TanhOp::create(b, in[0]);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

Value AddOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return b.join(ReduceKind::Sum, elementOf(getLhs()), in[0], in[1]);
}

Value AndOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return arith::AndIOp::create(b, in[0], in[1]);
}

Value Atan2Op::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return math::Atan2Op::create(b, in[0], in[1]);
}

Value DivOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Type element = elementOf(getLhs());
  if (isa<FloatType>(element))
    return arith::DivFOp::create(b, in[0], in[1]);
  Value negated = arith::SubIOp::create(b, integer(b, in[0], 0), in[0]);
  return divide<arith::DivSIOp, arith::DivUIOp>(b, !isZeroExtended(element), in[0], in[1],
                                                integer(b, in[0], -1), negated);
}

Value MaxOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return b.join(ReduceKind::Max, elementOf(getLhs()), in[0], in[1]);
}

Value MinOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return b.join(ReduceKind::Min, elementOf(getLhs()), in[0], in[1]);
}

Value MulOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return b.join(ReduceKind::Prod, elementOf(getLhs()), in[0], in[1]);
}

Value OrOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return arith::OrIOp::create(b, in[0], in[1]);
}

/// Integers wrap around; exponents are signed in math.ipowi, so that unsigned ones lose their
/// lowest bit first.
Value PowOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Type element = elementOf(getLhs()), wide = b.getI64Type();
  if (isa<FloatType>(element))
    return math::PowFOp::create(b, in[0], in[1]);
  bool hasSign = !isZeroExtended(element);
  Type target = hasSign ? wide : IntegerType::get(b.getContext(), 64, IntegerType::Unsigned);
  Value base = b.cast(element, target, in[0]), exponent = b.cast(element, target, in[1]);
  Value power;
  if (hasSign) {
    power = math::IPowIOp::create(b, base, exponent);
  } else {
    Value one = integer(b, base, 1);
    Value half = arith::ShRUIOp::create(b, exponent, one);
    Value isOdd = compare(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, exponent, one),
                          integer(b, base, 0));
    Value even = math::IPowIOp::create(b, arith::MulIOp::create(b, base, base), half);
    power = arith::MulIOp::create(b, even, b.select(isOdd, base, one));
  }
  return b.cast(target, getComputedType(element), power);
}

/// A word of 32 bits, `by` of them moved from its top to its bottom; words stand in 64 bits.
static Value rotateWord(ArithmeticBuilder &b, Value word, unsigned by) {
  Value up = arith::ShLIOp::create(b, word, integer(b, word, by));
  Value down = arith::ShRUIOp::create(b, word, integer(b, word, 32 - by));
  Value both = arith::OrIOp::create(b, up, down);
  return arith::AndIOp::create(b, both, integer(b, word, 0xFFFFFFFF));
}

/// Rounds of Threefry-2x32; every fourth is followed by an injection of the key.
Value RandomBitsOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Value mask = integer(b, in[0], 0xFFFFFFFF), half = integer(b, in[0], 32);
  auto low = [&](Value value) -> Value { return arith::AndIOp::create(b, value, mask); };
  auto high = [&](Value value) -> Value { return arith::ShRUIOp::create(b, value, half); };
  auto sum = [&](Value lhs, Value rhs) { return low(arith::AddIOp::create(b, lhs, rhs)); };
  Value k0 = low(in[1]), k1 = high(in[1]);
  Value parity =
      arith::XOrIOp::create(b, arith::XOrIOp::create(b, k0, k1), integer(b, in[0], 0x1BD11BDA));
  Value keys[] = {k0, k1, parity};
  constexpr unsigned rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  Value x0 = sum(low(in[0]), k0), x1 = sum(high(in[0]), k1);
  for (unsigned round = 0; round < 20; ++round) {
    x0 = sum(x0, x1);
    x1 = arith::XOrIOp::create(b, rotateWord(b, x1, rotations[round % 8]), x0);
    if (unsigned injection = (round + 1) / 4; (round + 1) % 4 == 0) {
      x0 = sum(x0, keys[injection % 3]);
      x1 = sum(x1, sum(keys[(injection + 1) % 3], integer(b, in[0], injection)));
    }
  }
  return arith::OrIOp::create(b, x0, arith::ShLIOp::create(b, x1, half));
}

Value RemOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Type element = elementOf(getLhs());
  if (isa<FloatType>(element))
    return arith::RemFOp::create(b, in[0], in[1]);
  return divide<arith::RemSIOp, arith::RemUIOp>(b, !isZeroExtended(element), in[0], in[1], in[0],
                                                integer(b, in[0], 0));
}

/// From the width on, nothing is left.
Value ShiftLeftOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Value last = integer(b, in[1], elementOf(getLhs()).getIntOrFloatBitWidth() - 1);
  Value isFar = compare(b, arith::CmpIPredicate::ugt, in[1], last);
  Value moved = arith::ShLIOp::create(b, in[0], b.select(isFar, last, in[1]));
  return b.select(isFar, integer(b, in[0], 0), moved);
}

/// From the width on, only what moves in is left: zeros, or the sign.
Value ShiftRightOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  Type element = elementOf(getLhs());
  Value last = integer(b, in[1], element.getIntOrFloatBitWidth() - 1);
  Value isFar = compare(b, arith::CmpIPredicate::ugt, in[1], last);
  Value places = b.select(isFar, last, in[1]);
  if (!isZeroExtended(element))
    return arith::ShRSIOp::create(b, in[0], places);
  return b.select(isFar, integer(b, in[0], 0), arith::ShRUIOp::create(b, in[0], places));
}

Value SubOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  if (isa<FloatType>(elementOf(getLhs())))
    return arith::SubFOp::create(b, in[0], in[1]);
  return arith::SubIOp::create(b, in[0], in[1]);
}

Value XorOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return arith::XOrIOp::create(b, in[0], in[1]);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Value CastOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return b.cast(elementOf(getInput()), elementOf(getResult()), in[0]);
}

Value CompareOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  struct Predicates {
    F floats;
    I hasSign, isUnsigned;
  };
  auto predicates = [](CompareDirection direction) -> Predicates {
    switch (direction) {
    case CompareDirection::EQ:
      return {F::OEQ, I::eq, I::eq};
    case CompareDirection::NE:
      return {F::UNE, I::ne, I::ne};
    case CompareDirection::LT:
      return {F::OLT, I::slt, I::ult};
    case CompareDirection::LE:
      return {F::OLE, I::sle, I::ule};
    case CompareDirection::GT:
      return {F::OGT, I::sgt, I::ugt};
    case CompareDirection::GE:
      return {F::OGE, I::sge, I::uge};
    }
    llvm_unreachable("a direction outside its enum");
  }(getDirection());
  Type element = elementOf(getLhs());
  if (isa<FloatType>(element))
    return compare(b, predicates.floats, in[0], in[1]);
  return compare(b, isZeroExtended(element) ? predicates.isUnsigned : predicates.hasSign, in[0],
                 in[1]);
}

Value SelectOp::buildArithmetic(ArithmeticBuilder &b, ValueRange in) {
  return b.select(in[0], in[1], in[2]);
}
