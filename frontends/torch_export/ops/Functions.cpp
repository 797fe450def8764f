// Functions of each element, and of pairs of elements.

#include "frontends/common/Composites.h"
#include "frontends/common/Division.h"
#include "frontends/common/SpecialFunctions.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/OpTable.h"
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// Of one element
//===----------------------------------------------------------------------===//

/// Integers and bools become f32.
static Value floatOperand(Node &node) {
  Value x = node.tensor("self");
  return isa<FloatType>(elementOf(x)) ? x : node.emit.cast(x, node.emit.builder.getF32Type());
}

/// Functions with float results.
template <typename Op> static void function(Node &node) {
  node.result(node.emit.unary<Op>(floatOperand(node)));
}

template <Value (*Function)(Emitter &, Value)> static void composite(Node &node) {
  node.result(
      emitWide(node.emit, floatOperand(node), [&](Value x) { return Function(node.emit, x); }));
}

/// Of any numbers, type kept.
template <typename Op> static void keeping(Node &node) {
  node.result(node.emit.unary<Op>(node.tensor("self")));
}

/// Roundings leave integers as they are.
template <typename Op> static void rounding(Node &node) {
  Value x = node.tensor("self");
  node.result(isa<FloatType>(elementOf(x)) ? node.emit.unary<Op>(x) : x);
}

static Value scaled(Emitter &emit, Value x, double factor) {
  return emit.binary<MulOp>(x, emit.like(x, factor));
}

static Value deg2rad(Emitter &emit, Value x) { return scaled(emit, x, std::numbers::pi / 180); }
static Value rad2deg(Emitter &emit, Value x) { return scaled(emit, x, 180 / std::numbers::pi); }
static Value exp2(Emitter &emit, Value x) {
  return emit.unary<ExpOp>(scaled(emit, x, std::numbers::ln2));
}
static Value log10(Emitter &emit, Value x) {
  return scaled(emit, emit.unary<LogOp>(x), std::numbers::log10e);
}
static Value log2(Emitter &emit, Value x) {
  return scaled(emit, emit.unary<LogOp>(x), std::numbers::log2e);
}
static Value square(Emitter &emit, Value x) { return emit.binary<MulOp>(x, x); }
static Value logit(Emitter &emit, Value x) { // log(x / (1 - x))
  return emit.unary<LogOp>(emit.binary<DivOp>(x, emit.binary<SubOp>(emit.like(x, 1), x)));
}
/// At 0, the infinity of the side from which 0 is reached.
static Value digamma(Emitter &emit, Value x) {
  Value isZero = emit.compare(CompareDirection::EQ, x, emit.like(x, 0));
  Value pole = emit.unary<NegOp>(emit.unary<ReciprocalOp>(x));
  return emit.select(isZero, pole, emitDigamma(emit, x));
}
/// sin(πx) / (πx), 1 at 0
static Value sinc(Emitter &emit, Value x) {
  Value angle = scaled(emit, x, std::numbers::pi), one = emit.like(x, 1);
  Value isZero = emit.compare(CompareDirection::EQ, x, emit.like(x, 0));
  return emit.select(isZero, one, emit.binary<DivOp>(emit.unary<SinOp>(angle), angle));
}

static void importFrac(Node &node) { // x - trunc(x)
  Value x = node.tensor("self");
  expectFloat(x);
  node.result(node.emit.binary<SubOp>(x, emitTruncate(node.emit, x)));
}

static void importLogit(Node &node) {
  Emitter &emit = node.emit;
  Value x = floatOperand(node);
  if (node.has("eps")) {
    double epsilon = node.real("eps");
    x = emit.binary<MinOp>(emit.binary<MaxOp>(x, emit.like(x, epsilon)), emit.like(x, 1 - epsilon));
  }
  node.result(emitWide(node.emit, x, [&](Value wide) { return logit(emit, wide); }));
}

/// NaN, +inf and -inf become numbers: 0 and the largest of either sign, unless others are given.
static void importNanToNum(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self");
  auto type = dyn_cast<FloatType>(elementOf(x));
  node.ignore({"nan", "posinf", "neginf"}); // of integers
  if (!type)
    return node.result(x);
  double most = llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  auto replace = [&](Value where, StringRef name, double otherwise) {
    x = emit.select(where, emit.like(x, node.has(name) ? node.real(name) : otherwise), x);
  };
  Type i1 = emit.builder.getI1Type();
  Value isNan = emit.create<IsNanOp>(typeOf(x).clone(i1), x);
  Value infinite = emit.create<IsInfOp>(typeOf(x).clone(i1), x), zero = emit.like(x, 0);
  Value above = emit.binary<AndOp>(infinite, emit.compare(CompareDirection::GT, x, zero));
  Value below = emit.binary<AndOp>(infinite, emit.compare(CompareDirection::LT, x, zero));
  replace(isNan, "nan", 0);
  replace(above, "posinf", most);
  replace(below, "neginf", -most);
  node.result(x);
}

/// To a number of decimals: round(x · 10ᵈ) / 10ᵈ.
static void importRoundDecimals(Node &node) {
  Value x = node.tensor("self");
  double factor = std::pow(10.0, double(node.integer("decimals", 0)));
  node.result(emitWide(node.emit, x, [&](Value wide) {
    Value rounded = node.emit.unary<RoundOp>(scaled(node.emit, wide, factor));
    return node.emit.binary<DivOp>(rounded, node.emit.like(rounded, factor));
  }));
}

/// -1, 0 or 1; of what is no number, 0.
static void importSign(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self"), sign = emit.unary<SignOp>(x);
  if (isa<FloatType>(elementOf(x))) {
    Value isNan = emit.create<IsNanOp>(typeOf(x).clone(emit.builder.getI1Type()), x);
    sign = emit.select(isNan, emit.like(x, 0), sign);
  }
  node.result(sign);
}

static void importTrunc(Node &node) {
  Value x = node.tensor("self");
  node.result(isa<FloatType>(elementOf(x)) ? emitTruncate(node.emit, x) : x);
}

//===----------------------------------------------------------------------===//
// Of two elements
//===----------------------------------------------------------------------===//

namespace {
struct Pair {
  Value lhs, rhs;
};
} // namespace

static Pair readPair(Node &node, Type type) {
  auto [lhs, rhs] =
      node.emit.together(operandAs(node, "self", type), operandAs(node, "other", type));
  return {lhs, rhs};
}

static Pair promotedPair(Node &node) {
  return readPair(node, promotedType(node, {"self", "other"}));
}

template <Value (*Function)(Emitter &, Value, Value)> static void ofFloats(Node &node) {
  Type type = promotedFloat(node, {"self", "other"});
  auto [lhs, rhs] = readPair(node, computeType(node, type));
  node.result(node.emit.cast(Function(node.emit, lhs, rhs), type));
}

static Value atan2(Emitter &emit, Value y, Value x) { return emit.binary<Atan2Op>(y, x); }

/// The sign of zeros counts, as that of their reciprocals.
static Value copysign(Emitter &emit, Value x, Value sign) {
  Value size = emit.unary<AbsOp>(x), zero = emit.like(sign, 0);
  Value inverse = emit.unary<ReciprocalOp>(sign);
  Value negative = emit.binary<OrOp>(emit.compare(CompareDirection::LT, sign, zero),
                                     emit.compare(CompareDirection::LT, inverse, zero));
  return emit.select(negative, emit.unary<NegOp>(size), size);
}

/// The larger leg times √(1 + ratio²), whose squares do not overflow; of an infinite leg infinite.
static Value hypot(Emitter &emit, Value x, Value y) {
  x = emit.unary<AbsOp>(x);
  y = emit.unary<AbsOp>(y);
  Value most = emit.binary<MaxOp>(x, y), least = emit.binary<MinOp>(x, y), one = emit.like(x, 1);
  Value isZero = emit.compare(CompareDirection::EQ, most, emit.like(x, 0));
  Value ratio = emit.binary<DivOp>(least, emit.select(isZero, one, most));
  Value root = emit.unary<SqrtOp>(emit.binary<AddOp>(square(emit, ratio), one));
  auto infinite = [&](Value leg) {
    return emit.create<IsInfOp>(typeOf(leg).clone(emit.builder.getI1Type()), leg);
  };
  Value isInfinite = emit.binary<OrOp>(infinite(x), infinite(y));
  return emit.select(isInfinite, emit.like(x, std::numeric_limits<double>::infinity()),
                     emit.binary<MulOp>(most, root));
}

static Value logAddExp2(Emitter &emit, Value x, Value y) {
  Value sum =
      emitLogAddExp(emit, scaled(emit, x, std::numbers::ln2), scaled(emit, y, std::numbers::ln2));
  return scaled(emit, sum, std::numbers::log2e);
}

/// x · 2ʸ
static Value ldexp(Emitter &emit, Value x, Value y) {
  return emit.binary<MulOp>(x, emit.binary<PowOp>(emit.like(y, 2), y));
}

/// x · log(y), 0 where x is 0 and y a number
static Value xlogy(Emitter &emit, Value x, Value y) {
  Value product = emit.binary<MulOp>(x, emit.unary<LogOp>(y)), zero = emit.like(x, 0);
  Value vanishes = emit.compare(CompareDirection::EQ, x, zero);
  Value isNan = emit.create<IsNanOp>(typeOf(y).clone(emit.builder.getI1Type()), y);
  return emit.select(isNan, y, emit.select(vanishes, zero, product));
}

/// The larger (smaller), or the one that is a number.
template <typename Op> static void importFmax(Node &node) {
  Emitter &emit = node.emit;
  auto [lhs, rhs] = promotedPair(node);
  Value result = emit.binary<Op>(lhs, rhs);
  if (isa<FloatType>(elementOf(lhs))) {
    RankedTensorType type = typeOf(lhs).clone(emit.builder.getI1Type());
    result = emit.select(emit.create<IsNanOp>(type, lhs), rhs, result);
    result = emit.select(emit.create<IsNanOp>(type, rhs), lhs, result);
  }
  node.result(result);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

static Value truncatedQuotient(Emitter &emit, Value lhs, Value rhs) {
  Value quotient = emit.binary<DivOp>(lhs, rhs); // of integers, this truncates
  return isa<FloatType>(elementOf(lhs)) ? emitTruncate(emit, quotient) : quotient;
}

static void importDivMode(Node &node) {
  std::string mode = node.text("rounding_mode", "");
  Type type =
      mode.empty() ? promotedFloat(node, {"self", "other"}) : promotedType(node, {"self", "other"});
  auto [lhs, rhs] = readPair(node, type);
  if (mode == "floor")
    return node.result(emitFloorQuotient(node.emit, lhs, rhs));
  if (mode == "trunc")
    return node.result(truncatedQuotient(node.emit, lhs, rhs));
  if (!mode.empty())
    throw ImportError("rounding mode '" + mode + "' is not known");
  node.result(node.emit.binary<DivOp>(lhs, rhs));
}

template <Value (*Function)(Emitter &, Value, Value)> static void ofNumbers(Node &node) {
  auto [lhs, rhs] = promotedPair(node);
  node.result(Function(node.emit, lhs, rhs));
}

static Value remainder(Emitter &emit, Value lhs, Value rhs) { return emit.binary<RemOp>(lhs, rhs); }

//===----------------------------------------------------------------------===//
// Of three
//===----------------------------------------------------------------------===//

/// self + value · tensor1 ∘ tensor2
template <typename Op> static void importAddc(Node &node) {
  Emitter &emit = node.emit;
  Type type = promotedType(node, {"self", "tensor1", "tensor2"});
  auto operand = [&](StringRef name) { return emit.cast(node.tensor(name), type); };
  Value joined = emit.binary<Op>(operand("tensor1"), operand("tensor2"));
  if (node.has("value") && asDouble(node.number("value")) != 1)
    joined = emit.binary<MulOp>(joined, constantOf(emit, node.number("value"), type));
  node.result(emit.binary<AddOp>(operand("self"), joined));
}

/// 0 below 0, 1 above, and at 0 what `values` holds.
static void importHeaviside(Node &node) {
  Emitter &emit = node.emit;
  auto [x, values] = emit.together(node.tensor("self"), node.tensor("values"));
  Value zero = emit.like(x, 0);
  Value above = emit.cast(emit.compare(CompareDirection::GT, x, zero), elementOf(x));
  node.result(emit.select(emit.compare(CompareDirection::EQ, x, zero), values, above));
}

/// self + weight · (end - self), from the nearer end: exact at both.
static void importLerp(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.tensor("self"), end = node.tensor("end");
  Value difference = emit.binary<SubOp>(end, x);
  Value weight = operandAs(node, "weight", elementOf(x)), one = emit.like(weight, 1);
  Value start = emit.binary<AddOp>(x, emit.binary<MulOp>(difference, weight));
  Value rest = emit.binary<MulOp>(difference, emit.binary<SubOp>(one, weight));
  Value finish = emit.binary<SubOp>(end, rest);
  if (node.isNumber("weight"))
    return node.result(std::abs(node.real("weight")) < 0.5 ? start : finish);
  Value isNear = emit.compare(CompareDirection::LT, emit.unary<AbsOp>(weight), emit.like(one, 0.5));
  node.result(emit.select(isNear, start, finish));
}

void weft::frontend::aten::addFunctions(OpTable &table) {
  table["aten.abs.default"] = keeping<AbsOp>;
  table["aten.acos.default"] = function<AcosOp>;
  table["aten.acosh.default"] = composite<emitAcosh>;
  table["aten.addcdiv.default"] = importAddc<DivOp>;
  table["aten.addcmul.default"] = importAddc<MulOp>;
  table["aten.asin.default"] = function<AsinOp>;
  table["aten.asinh.default"] = composite<emitAsinh>;
  table["aten.atan.default"] = function<AtanOp>;
  table["aten.atan2.default"] = ofFloats<atan2>;
  table["aten.atanh.default"] = composite<emitAtanh>;
  table["aten.ceil.default"] = rounding<CeilOp>;
  table["aten.copysign.Scalar"] = ofFloats<copysign>;
  table["aten.copysign.Tensor"] = ofFloats<copysign>;
  table["aten.cos.default"] = function<CosOp>;
  table["aten.cosh.default"] = function<CoshOp>;
  table["aten.deg2rad.default"] = composite<deg2rad>;
  table["aten.digamma.default"] = composite<digamma>;
  table["aten.div.Scalar_mode"] = importDivMode;
  table["aten.div.Tensor_mode"] = importDivMode;
  table["aten.erf.default"] = function<ErfOp>;
  table["aten.erfc.default"] = composite<emitErfc>;
  table["aten.erfinv.default"] = composite<emitErfInv>;
  table["aten.exp.default"] = function<ExpOp>;
  table["aten.exp2.default"] = composite<exp2>;
  table["aten.expm1.default"] = function<Expm1Op>;
  table["aten.floor.default"] = rounding<FloorOp>;
  table["aten.floor_divide.default"] = ofNumbers<emitFloorQuotient>;
  table["aten.floor_divide.Scalar"] = ofNumbers<emitFloorQuotient>;
  table["aten.fmax.default"] = importFmax<MaxOp>;
  table["aten.fmin.default"] = importFmax<MinOp>;
  table["aten.fmod.Scalar"] = ofNumbers<remainder>;
  table["aten.fmod.Tensor"] = ofNumbers<remainder>;
  table["aten.frac.default"] = importFrac;
  table["aten.hypot.default"] = ofFloats<hypot>;
  table["aten.heaviside.default"] = importHeaviside;
  table["aten.ldexp.Tensor"] = ofFloats<ldexp>;
  table["aten.lerp.Scalar"] = importLerp;
  table["aten.lerp.Tensor"] = importLerp;
  table["aten.lgamma.default"] = composite<emitLgamma>;
  table["aten.log.default"] = function<LogOp>;
  table["aten.log10.default"] = composite<log10>;
  table["aten.log1p.default"] = function<Log1pOp>;
  table["aten.log2.default"] = composite<log2>;
  table["aten.logaddexp.default"] = ofFloats<emitLogAddExp>;
  table["aten.logaddexp2.default"] = ofFloats<logAddExp2>;
  table["aten.logit.default"] = importLogit;
  table["aten.nan_to_num.default"] = importNanToNum;
  table["aten.rad2deg.default"] = composite<rad2deg>;
  table["aten.reciprocal.default"] = function<ReciprocalOp>;
  table["aten.remainder.Scalar"] = ofNumbers<emitFloorRemainder>;
  table["aten.remainder.Scalar_Tensor"] = ofNumbers<emitFloorRemainder>;
  table["aten.remainder.Tensor"] = ofNumbers<emitFloorRemainder>;
  table["aten.round.decimals"] = importRoundDecimals;
  table["aten.round.default"] = rounding<RoundOp>;
  table["aten.rsqrt.default"] = function<RsqrtOp>;
  table["aten.sgn.default"] = importSign;
  table["aten.sigmoid.default"] = function<SigmoidOp>;
  table["aten.sign.default"] = importSign;
  table["aten.sin.default"] = function<SinOp>;
  table["aten.sinc.default"] = composite<sinc>;
  table["aten.sinh.default"] = function<SinhOp>;
  table["aten.special_digamma.default"] = composite<digamma>;
  table["aten.special_erf.default"] = function<ErfOp>;
  table["aten.special_erfc.default"] = composite<emitErfc>;
  table["aten.special_erfinv.default"] = composite<emitErfInv>;
  table["aten.special_exp2.default"] = composite<exp2>;
  table["aten.special_expit.default"] = function<SigmoidOp>;
  table["aten.special_expm1.default"] = function<Expm1Op>;
  table["aten.special_gammaln.default"] = composite<emitLgamma>;
  table["aten.special_log1p.default"] = function<Log1pOp>;
  table["aten.special_logit.default"] = importLogit;
  table["aten.special_psi.default"] = composite<digamma>;
  table["aten.special_round.default"] = importRoundDecimals;
  table["aten.special_sinc.default"] = composite<sinc>;
  table["aten.special_xlogy.default"] = ofFloats<xlogy>;
  table["aten.special_xlogy.other_scalar"] = ofFloats<xlogy>;
  table["aten.special_xlogy.self_scalar"] = ofFloats<xlogy>;
  table["aten.sqrt.default"] = function<SqrtOp>;
  table["aten.tan.default"] = function<TanOp>;
  table["aten.tanh.default"] = function<TanhOp>;
  table["aten.trunc.default"] = importTrunc;
  table["aten.xlogy.Scalar_Other"] = ofFloats<xlogy>;
  table["aten.xlogy.Scalar_Self"] = ofFloats<xlogy>;
  table["aten.xlogy.Tensor"] = ofFloats<xlogy>;
}
