// Operations that compute each element of the result from one element of each operand.

#include "frontends/stablehlo/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/Composites.h"
#include "frontends/common/SpecialFunctions.h"
#include "frontends/stablehlo/AttributeText.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

static bool isFloat(Value value) { return isa<FloatType>(elementOf(value)); }
static bool isBool(Value value) { return elementOf(value).isInteger(1); }

template <typename Op> static void unary(Instruction &op) {
  op.expectOperands(1);
  op.result(op.emit.unary<Op>(op.operand(0)));
}

template <typename Op> static void unaryFloat(Instruction &op) {
  expectFloat(op.operand(0));
  unary<Op>(op);
}

template <typename Op> static void binary(Instruction &op) {
  op.expectOperands(2);
  op.result(op.emit.binary<Op>(op.operand(0), op.operand(1)));
}

template <typename Op> static void binaryFloat(Instruction &op) {
  expectFloat(op.operand(0));
  binary<Op>(op);
}

template <Value (*Function)(Emitter &, Value)> static void special(Instruction &op) {
  expectFloat(op.operand(0));
  op.result(Function(op.emit, op.operand(0)));
}

template <Value (*Function)(Emitter &, Value)> static void specialWide(Instruction &op) {
  op.result(emitWide(op.emit, op.operand(0), [&](Value x) { return Function(op.emit, x); }));
}

/// Arithmetic of integers and floats that is another operation on booleans.
template <typename Op, typename OnBools> static void binaryOrBools(Instruction &op) {
  isBool(op.operand(0)) ? binary<OnBools>(op) : binary<Op>(op);
}

static Value square(Emitter &emit, Value x) { return emit.binary<MulOp>(x, x); }
static Value less(Emitter &emit, Value x, double bound) {
  return emit.compare(CompareDirection::LT, x, emit.like(x, bound));
}
static Value isZero(Emitter &emit, Value x) {
  return emit.compare(CompareDirection::EQ, x, emit.like(x, 0));
}

//===----------------------------------------------------------------------===//
// Floats, alphabetical
//===----------------------------------------------------------------------===//

template <bool Positive, bool Negative> static void importIsInf(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = op.operand(0);
  expectFloat(x);
  Value result = emit.create<IsInfOp>(typeOf(x).clone(emit.builder.getI1Type()), x);
  if (!Positive || !Negative) {
    CompareDirection side = Positive ? CompareDirection::GT : CompareDirection::LT;
    result = emit.binary<AndOp>(result, emit.compare(side, x, emit.like(x, 0)));
  }
  op.result(result);
}

static void importIsFinite(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = op.operand(0);
  expectFloat(x);
  Value infinity = emit.like(x, std::numeric_limits<double>::infinity());
  op.result(emit.compare(CompareDirection::LT, emit.unary<AbsOp>(x), infinity));
}

/// Through the type with these bits; its least normal numbers are the least that are left.
static void importReducePrecision(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = op.operand(0);
  expectFloat(x);
  int64_t exponent = op.requiredInt("exponent_bits"), mantissa = op.requiredInt("mantissa_bits");
  Type narrow;
  if (exponent == 5 && mantissa == 10)
    narrow = emit.builder.getF16Type();
  else if (exponent == 8 && mantissa == 7)
    narrow = emit.builder.getBF16Type();
  else if (exponent == 8 && mantissa == 23)
    narrow = emit.builder.getF32Type();
  else
    throw ImportError("a reduction to " + std::to_string(exponent) + " bits of exponent and " +
                      std::to_string(mantissa) + " of mantissa is not supported");
  Value reduced = emit.cast(emit.cast(x, narrow), elementOf(x));
  double least = std::ldexp(1.0, exponent == 5 ? -14 : -126);
  Value isSmall =
      emit.compare(CompareDirection::LT, emit.unary<AbsOp>(reduced), emit.like(reduced, least));
  Value zero = emit.binary<MulOp>(reduced, emit.like(reduced, 0));
  op.result(emit.select(isSmall, zero, reduced));
}

/// Halves go away from zero; a sum with 1/2 would round others, too.
static void importRoundAway(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = op.operand(0);
  expectFloat(x);
  Value size = emit.unary<AbsOp>(x), whole = emit.unary<FloorOp>(size);
  Value rest = emit.binary<SubOp>(size, whole);
  Value up = emit.binary<AddOp>(whole, emit.like(x, 1));
  Value rounded = emit.select(less(emit, rest, 0.5), whole, up);
  op.result(emit.binary<MulOp>(rounded, emit.unary<SignOp>(x)));
}

//===----------------------------------------------------------------------===//
// All types, alphabetical
//===----------------------------------------------------------------------===//

static void importAbs(Instruction &op) {
  Value x = op.operand(0);
  elementOf(x).isUnsignedInteger() ? op.result(x) : unary<AbsOp>(op);
}

static void importClamp(Instruction &op) {
  op.expectOperands(3);
  Value low = op.operand(0), x = op.operand(1), high = op.operand(2);
  op.result(op.emit.binary<MinOp>(op.emit.binary<MaxOp>(x, low), high));
}

/// In the total order of floats, -0 < 0 and NaN is above all (negative NaNs, which lie below all,
/// are not told apart).
static Value compareTotally(Emitter &emit, CompareDirection direction, Value x, Value y) {
  auto isNan = [&](Value v) {
    return emit.create<IsNanOp>(typeOf(v).clone(emit.builder.getI1Type()), v);
  };
  auto isLess = [&](Value a, Value b) {
    Value zeros = emit.binary<AndOp>(isZero(emit, a), isZero(emit, b));
    Value signs = emit.compare(CompareDirection::LT, emit.unary<ReciprocalOp>(a),
                               emit.unary<ReciprocalOp>(b));
    Value nans = emit.binary<AndOp>(isNan(b), emit.unary<NotOp>(isNan(a)));
    return emit.binary<OrOp>(emit.compare(CompareDirection::LT, a, b),
                             emit.binary<OrOp>(nans, emit.binary<AndOp>(zeros, signs)));
  };
  switch (direction) {
  case CompareDirection::LT:
    return isLess(x, y);
  case CompareDirection::GT:
    return isLess(y, x);
  case CompareDirection::LE:
    return emit.unary<NotOp>(isLess(y, x));
  case CompareDirection::GE:
    return emit.unary<NotOp>(isLess(x, y));
  case CompareDirection::NE:
    return emit.binary<OrOp>(isLess(x, y), isLess(y, x));
  case CompareDirection::EQ:
    return emit.unary<NotOp>(emit.binary<OrOp>(isLess(x, y), isLess(y, x)));
  }
  return {};
}

static CompareDirection directionOf(StringRef word) {
  std::optional<CompareDirection> direction = symbolizeCompareDirection(word.lower());
  if (!direction)
    throw ImportError("comparison '" + word.str() + "' is not known");
  return *direction;
}

static void importCompare(Instruction &op) {
  op.expectOperands(2);
  CompareDirection direction =
      directionOf(enumWord(op.attribute("comparison_direction"), "comparison_direction"));
  Attribute order = op.attribute("compare_type");
  auto [x, y] = op.emit.together(op.operand(0), op.operand(1));
  if (order && enumWord(order, "comparison_type") == "TOTALORDER" && isFloat(x))
    return op.result(compareTotally(op.emit, direction, x, y));
  op.result(op.emit.compare(direction, x, y));
}

static void importConvert(Instruction &op) {
  op.result(op.emit.cast(op.operand(0), op.resultType().getElementType()));
}

/// JAX bounds a softmax's maximum by -inf below, which changes nothing.
template <typename Op> static void importBound(Instruction &op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  op.expectOperands(2);
  auto [x, y] = op.emit.together(op.operand(0), op.operand(1));
  for (auto [bound, other] : {std::pair(x, y), std::pair(y, x)}) {
    const Tensor *known = isFloat(bound) ? op.emit.valueOf(bound) : nullptr;
    if (known && known->isSplat() &&
        storedNumbersOf<double>(*known).front() ==
            (std::is_same_v<Op, MaxOp> ? -infinity : infinity))
      return op.result(other);
  }
  op.result(op.emit.create<Op>(typeOf(x), x, y));
}

static void importMaximum(Instruction &op) {
  isBool(op.operand(0)) ? binary<OrOp>(op) : importBound<MaxOp>(op);
}

static void importMinimum(Instruction &op) {
  isBool(op.operand(0)) ? binary<AndOp>(op) : importBound<MinOp>(op);
}

static void importNegate(Instruction &op) {
  Value x = op.operand(0);
  elementOf(x).isUnsignedInteger() ? op.result(op.emit.binary<SubOp>(op.emit.like(x, 0), x))
                                   : unary<NegOp>(op);
}

static void importSelect(Instruction &op) {
  op.expectOperands(3);
  op.result(op.emit.select(op.operand(0), op.operand(1), op.operand(2)));
}

static void importSign(Instruction &op) {
  Emitter &emit = op.emit;
  Value x = op.operand(0);
  if (!elementOf(x).isUnsignedInteger())
    return unary<SignOp>(op);
  op.result(emit.binary<MinOp>(x, emit.like(x, 1)));
}

static void importSquare(Instruction &op) { op.result(square(op.emit, op.operand(0))); }

void stablehlo::addArithmetic(OpTable &table) {
  table["chlo.acos"] = unaryFloat<AcosOp>;
  table["chlo.acosh"] = special<emitAcosh>;
  table["chlo.asin"] = unaryFloat<AsinOp>;
  table["chlo.asinh"] = special<emitAsinh>;
  table["chlo.atan"] = unaryFloat<AtanOp>;
  table["chlo.atanh"] = special<emitAtanh>;
  table["chlo.cosh"] = unaryFloat<CoshOp>;
  table["chlo.digamma"] = specialWide<emitDigamma>;
  table["chlo.erf"] = unaryFloat<ErfOp>;
  table["chlo.erf_inv"] = specialWide<emitErfInv>;
  table["chlo.erfc"] = special<emitErfc>;
  table["chlo.is_inf"] = importIsInf<true, true>;
  table["chlo.is_neg_inf"] = importIsInf<false, true>;
  table["chlo.is_pos_inf"] = importIsInf<true, false>;
  table["chlo.lgamma"] = specialWide<emitLgamma>;
  table["chlo.sinh"] = unaryFloat<SinhOp>;
  table["chlo.square"] = importSquare;
  table["chlo.tan"] = unaryFloat<TanOp>;
  table["stablehlo.abs"] = importAbs;
  table["stablehlo.add"] = binaryOrBools<AddOp, OrOp>;
  table["stablehlo.and"] = binary<AndOp>;
  table["stablehlo.atan2"] = binaryFloat<Atan2Op>;
  table["stablehlo.cbrt"] = unaryFloat<CbrtOp>;
  table["stablehlo.ceil"] = unaryFloat<CeilOp>;
  table["stablehlo.clamp"] = importClamp;
  table["stablehlo.compare"] = importCompare;
  table["stablehlo.convert"] = importConvert;
  table["stablehlo.cosine"] = unaryFloat<CosOp>;
  table["stablehlo.divide"] = binary<DivOp>;
  table["stablehlo.exponential"] = unaryFloat<ExpOp>;
  table["stablehlo.exponential_minus_one"] = unaryFloat<Expm1Op>;
  table["stablehlo.floor"] = unaryFloat<FloorOp>;
  table["stablehlo.is_finite"] = importIsFinite;
  table["stablehlo.log"] = unaryFloat<LogOp>;
  table["stablehlo.log_plus_one"] = unaryFloat<Log1pOp>;
  table["stablehlo.logistic"] = unaryFloat<SigmoidOp>;
  table["stablehlo.maximum"] = importMaximum;
  table["stablehlo.minimum"] = importMinimum;
  table["stablehlo.multiply"] = binaryOrBools<MulOp, AndOp>;
  table["stablehlo.negate"] = importNegate;
  table["stablehlo.not"] = unary<NotOp>;
  table["stablehlo.or"] = binary<OrOp>;
  table["stablehlo.power"] = binary<PowOp>;
  table["stablehlo.reduce_precision"] = importReducePrecision;
  table["stablehlo.remainder"] = binary<RemOp>;
  table["stablehlo.round_nearest_afz"] = importRoundAway;
  table["stablehlo.round_nearest_even"] = unaryFloat<RoundOp>;
  table["stablehlo.rsqrt"] = unaryFloat<RsqrtOp>;
  table["stablehlo.select"] = importSelect;
  table["stablehlo.sign"] = importSign;
  table["stablehlo.sine"] = unaryFloat<SinOp>;
  table["stablehlo.sqrt"] = unaryFloat<SqrtOp>;
  table["stablehlo.subtract"] = binary<SubOp>;
  table["stablehlo.tan"] = unaryFloat<TanOp>;
  table["stablehlo.tanh"] = unaryFloat<TanhOp>;
  table["stablehlo.xor"] = binary<XorOp>;
}
