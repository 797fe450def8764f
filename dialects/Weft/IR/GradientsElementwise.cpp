// Gradients of elementwise operations (WeftElementwise.td), one case an operation, alphabetical.
// Where a function has a corner its gradient is torch's there: 0 for abs at 0, halves for the
// larger of two equal ones.

#include "dialects/Weft/IR/GradientBuilder.h"
#include "dialects/Weft/IR/Splat.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// The operand's gradient is the result's times `derivative(x)`.
static LogicalResult chain(GradientBuilder &b, Operation *op,
                           llvm::function_ref<Value(Value)> derivative) {
  b.set(0, b.mul(b.of(), derivative(op->getOperand(0))));
  return success();
}

static Value square(GradientBuilder &b, Value x) { return b.mul(x, x); }

static Value oneMinus(GradientBuilder &b, Value x) { return b.sub(b.splat(x, 1), x); }

static Value onePlus(GradientBuilder &b, Value x) { return b.add(x, b.splat(x, 1)); }

static Value times(GradientBuilder &b, double factor, Value x) {
  return b.mul(x, b.splat(x, factor));
}

static Value zero(GradientBuilder &b, Value x) { return b.splat(x, 0); }

static Value compare(GradientBuilder &b, CompareDirection direction, Value lhs, Value rhs) {
  return b.make<CompareOp>(direction, lhs, rhs);
}

static Value div(GradientBuilder &b, Value lhs, Value rhs) { return b.make<DivOp>(lhs, rhs); }

/// Of two operands, the one that `direction` prefers has the gradient, each half of it where they
/// are equal; a NaN goes to both.
static LogicalResult shareByOrder(GradientBuilder &b, Value lhs, Value rhs,
                                  CompareDirection prefersLhs) {
  Value gradient = b.of(), half = times(b, 0.5, gradient);
  Value equal = compare(b, CompareDirection::EQ, lhs, rhs);
  auto share = [&](Value own, Value other) {
    // Not "own is better": that fails where one is NaN.
    Value worse = compare(b, prefersLhs, other, own);
    Value unequal = b.make<SelectOp>(worse, zero(b, gradient), gradient);
    return b.make<SelectOp>(equal, half, unequal);
  };
  if (b.wants(0))
    b.set(0, share(lhs, rhs));
  if (b.wants(1))
    b.set(1, share(rhs, lhs));
  return success();
}

/// Functions that are constant between their steps, and integers, have no gradient but zero.
#define WEFT_GRADIENT_ZERO(OP)                                                                     \
  LogicalResult OP::buildGradients(GradientBuilder &) { return success(); }

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

LogicalResult AbsOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) { return b.make<SignOp>(x); });
}

LogicalResult AcosOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this,
               [&](Value x) { return b.make<NegOp>(b.make<RsqrtOp>(oneMinus(b, square(b, x)))); });
}

LogicalResult AsinOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) { return b.make<RsqrtOp>(oneMinus(b, square(b, x))); });
}

LogicalResult AtanOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) { return b.make<ReciprocalOp>(onePlus(b, square(b, x))); });
}

LogicalResult BarrierOp::buildGradients(GradientBuilder &b) {
  b.set(0, b.of());
  return success();
}

LogicalResult CbrtOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this,
               [&](Value) { return b.make<ReciprocalOp>(times(b, 3, square(b, getResult()))); });
}

WEFT_GRADIENT_ZERO(CeilOp)

LogicalResult CosOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) { return b.make<NegOp>(b.make<SinOp>(x)); });
}

LogicalResult CoshOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) { return b.make<SinhOp>(x); });
}

WEFT_GRADIENT_ZERO(CountLeadingZerosOp)

/// 2/√π · exp(-x²)
LogicalResult ErfOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) {
    return times(b, 2 * std::numbers::inv_sqrtpi, b.make<ExpOp>(b.make<NegOp>(square(b, x))));
  });
}

LogicalResult ExpOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value) { return getResult(); });
}

LogicalResult Expm1Op::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value) { return onePlus(b, getResult()); });
}

WEFT_GRADIENT_ZERO(FloorOp)
WEFT_GRADIENT_ZERO(IsInfOp)
WEFT_GRADIENT_ZERO(IsNanOp)

LogicalResult LogOp::buildGradients(GradientBuilder &b) {
  b.set(0, div(b, b.of(), getInput()));
  return success();
}

LogicalResult Log1pOp::buildGradients(GradientBuilder &b) {
  b.set(0, div(b, b.of(), onePlus(b, getInput())));
  return success();
}

LogicalResult NegOp::buildGradients(GradientBuilder &b) {
  b.set(0, b.make<NegOp>(b.of()));
  return success();
}

WEFT_GRADIENT_ZERO(NotOp)
WEFT_GRADIENT_ZERO(PopcountOp)

LogicalResult ReciprocalOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value) { return b.make<NegOp>(square(b, getResult())); });
}

WEFT_GRADIENT_ZERO(RoundOp)

/// -½ · x^(-3/2)
LogicalResult RsqrtOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this,
               [&](Value) { return times(b, -0.5, b.mul(square(b, getResult()), getResult())); });
}

LogicalResult SigmoidOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value) { return b.mul(getResult(), oneMinus(b, getResult())); });
}

WEFT_GRADIENT_ZERO(SignOp)

LogicalResult SinOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) { return b.make<CosOp>(x); });
}

LogicalResult SinhOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) { return b.make<CoshOp>(x); });
}

LogicalResult SqrtOp::buildGradients(GradientBuilder &b) {
  b.set(0, div(b, times(b, 0.5, b.of()), getResult()));
  return success();
}

WEFT_GRADIENT_ZERO(StopGradientOp)

LogicalResult TanOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value) { return onePlus(b, square(b, getResult())); });
}

LogicalResult TanhOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value) { return oneMinus(b, square(b, getResult())); });
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

LogicalResult AddOp::buildGradients(GradientBuilder &b) {
  for (unsigned operand : {0, 1})
    if (b.wants(operand))
      b.set(operand, b.of());
  return success();
}

WEFT_GRADIENT_ZERO(AndOp)

/// atan2(y, x): x / (x² + y²) and -y / (x² + y²).
LogicalResult Atan2Op::buildGradients(GradientBuilder &b) {
  Value scaled = div(b, b.of(), b.add(square(b, getLhs()), square(b, getRhs())));
  if (b.wants(0))
    b.set(0, b.mul(scaled, getRhs()));
  if (b.wants(1))
    b.set(1, b.make<NegOp>(b.mul(scaled, getLhs())));
  return success();
}

LogicalResult DivOp::buildGradients(GradientBuilder &b) {
  Value quotient = div(b, b.of(), getRhs());
  if (b.wants(0))
    b.set(0, quotient);
  if (b.wants(1))
    b.set(1, b.make<NegOp>(b.mul(quotient, getResult())));
  return success();
}

LogicalResult MaxOp::buildGradients(GradientBuilder &b) {
  return shareByOrder(b, getLhs(), getRhs(), CompareDirection::GT);
}

LogicalResult MinOp::buildGradients(GradientBuilder &b) {
  return shareByOrder(b, getLhs(), getRhs(), CompareDirection::LT);
}

LogicalResult MulOp::buildGradients(GradientBuilder &b) {
  if (b.wants(0))
    b.set(0, b.mul(b.of(), getRhs()));
  if (b.wants(1))
    b.set(1, b.mul(b.of(), getLhs()));
  return success();
}

WEFT_GRADIENT_ZERO(OrOp)

/// x^y: y·x^(y-1), 0 where y is 0; x^y·log x, 0 where x is 0 and y is not below it.
LogicalResult PowOp::buildGradients(GradientBuilder &b) {
  Value x = getLhs(), y = getRhs(), none = zero(b, x);
  if (b.wants(0)) {
    Value slope = b.mul(y, b.make<PowOp>(x, b.sub(y, b.splat(y, 1))));
    Value constant = compare(b, CompareDirection::EQ, y, none);
    b.set(0, b.mul(b.of(), b.make<SelectOp>(constant, none, slope)));
  }
  if (b.wants(1)) {
    Value slope = b.mul(getResult(), b.make<LogOp>(x));
    Value flat = b.make<AndOp>(compare(b, CompareDirection::EQ, x, none),
                               compare(b, CompareDirection::GE, y, none));
    b.set(1, b.mul(b.of(), b.make<SelectOp>(flat, none, slope)));
  }
  return success();
}

WEFT_GRADIENT_ZERO(RandomBitsOp)

/// x - trunc(x/y)·y
LogicalResult RemOp::buildGradients(GradientBuilder &b) {
  if (b.wants(0))
    b.set(0, b.of());
  if (b.wants(1)) {
    Value whole = div(b, b.sub(getLhs(), getResult()), getRhs());
    b.set(1, b.make<NegOp>(b.mul(b.of(), b.make<RoundOp>(whole))));
  }
  return success();
}

WEFT_GRADIENT_ZERO(ShiftLeftOp)
WEFT_GRADIENT_ZERO(ShiftRightOp)

LogicalResult SubOp::buildGradients(GradientBuilder &b) {
  if (b.wants(0))
    b.set(0, b.of());
  if (b.wants(1))
    b.set(1, b.make<NegOp>(b.of()));
  return success();
}

WEFT_GRADIENT_ZERO(XorOp)

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

LogicalResult CastOp::buildGradients(GradientBuilder &b) {
  b.set(0, b.castTo(b.of(), elementOf(getInput())));
  return success();
}

WEFT_GRADIENT_ZERO(CompareOp)

/// erf: Φ(x) + x·φ(x). tanh, with u = √(2/π)·(x + c·x³): ½(1 + t) + ½x(1 - t²)·u', t = tanh u.
LogicalResult GeluOp::buildGradients(GradientBuilder &b) {
  return chain(b, *this, [&](Value x) -> Value {
    if (getForm() == GeluForm::Erf) {
      Value scaled = times(b, 1 / std::numbers::sqrt2, x);
      Value below = times(b, 0.5, onePlus(b, b.make<ErfOp>(scaled)));
      Value density = b.make<ExpOp>(b.make<NegOp>(square(b, scaled)));
      double peak = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
      return b.add(below, b.mul(x, times(b, peak, density)));
    }
    constexpr double cubic = 0.044715;
    double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    Value xx = square(b, x);
    Value bent = b.make<TanhOp>(times(b, root, b.mul(x, onePlus(b, times(b, cubic, xx)))));
    Value slope = times(b, root, onePlus(b, times(b, 3 * cubic, xx)));
    Value rise = b.mul(b.mul(x, oneMinus(b, square(b, bent))), slope);
    return times(b, 0.5, b.add(onePlus(b, bent), rise));
  });
}

/// The condition of a selection. That of a bound, x ≤ c ? c : x (or ≥), is told by the result as
/// well: readers of the result keep that, and nobody needs to keep x.
static Value getChoice(GradientBuilder &b, SelectOp op) {
  auto comparison = op.getCondition().getDefiningOp<CompareOp>();
  if (!comparison || comparison.getLhs() != op.getOnFalse() ||
      (comparison.getDirection() != CompareDirection::LE &&
       comparison.getDirection() != CompareDirection::GE))
    return op.getCondition();
  std::optional<double> bound = splatNumber(comparison.getRhs());
  if (!bound || splatNumber(op.getOnTrue()) != bound)
    return op.getCondition();
  return compare(b, comparison.getDirection(), op.getResult(), comparison.getRhs());
}

LogicalResult SelectOp::buildGradients(GradientBuilder &b) {
  Value gradient = b.of(), none = zero(b, gradient), choice = getChoice(b, *this);
  if (b.wants(1))
    b.set(1, b.make<SelectOp>(choice, gradient, none));
  if (b.wants(2))
    b.set(2, b.make<SelectOp>(choice, none, gradient));
  return success();
}

#undef WEFT_GRADIENT_ZERO
