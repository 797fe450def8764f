// Special functions, by their approximations.

#include "frontends/stablehlo/ops/OpTable.h"

#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

namespace {
/// Arithmetic of a value with numbers, to write formulas as they are.
struct Term {
  Emitter *emit;
  Value value;

  Term with(Value other) const { return {emit, other}; }
  Value number(double x) const { return emit->like(value, x); }
  Term operator+(Term y) const { return with(emit->binary<AddOp>(value, y.value)); }
  Term operator-(Term y) const { return with(emit->binary<SubOp>(value, y.value)); }
  Term operator*(Term y) const { return with(emit->binary<MulOp>(value, y.value)); }
  Term operator/(Term y) const { return with(emit->binary<DivOp>(value, y.value)); }
  Term operator+(double y) const { return *this + with(number(y)); }
  Term operator-(double y) const { return *this - with(number(y)); }
  Term operator*(double y) const { return *this * with(number(y)); }
  Term operator/(double y) const { return *this / with(number(y)); }
  Term operator-() const { return with(emit->unary<NegOp>(value)); }
  Value operator<(double y) const { return emit->compare(CompareDirection::LT, value, number(y)); }
  Value operator==(Term y) const { return emit->compare(CompareDirection::EQ, value, y.value); }
  template <typename Op> Term apply() const { return with(emit->unary<Op>(value)); }
  /// This where `condition` holds, else the other.
  Term where(Value condition, Term otherwise) const {
    return with(emit->select(condition, value, otherwise.value));
  }
};
} // namespace

/// The operand, computed in f32 where it is narrower.
static Term operandOf(Instruction &op) {
  Value x = op.operand(0);
  expectFloat(x);
  bool isNarrow = elementOf(x).getIntOrFloatBitWidth() < 32;
  return {&op.emit, isNarrow ? op.emit.cast(x, op.emit.builder.getF32Type()) : x};
}

static void setResult(Instruction &op, Term term) {
  op.result(op.emit.cast(term.value, elementOf(op.operand(0))));
}

static Term polynomial(Term x, ArrayRef<double> coefficients) {
  Term sum = x.with(x.number(coefficients.front()));
  for (double coefficient : coefficients.drop_front())
    sum = sum * x + coefficient;
  return sum;
}

/// M. Giles, "Approximating the erfinv function", 2010: single precision. Doubles are improved by
/// two of Newton's steps.
static void importErfInv(Instruction &op) {
  static constexpr double central[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                       -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                       -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                    -0.00367342844,  0.00573950773,  -0.0076224613,
                                    0.00943887047,   1.00167406,     2.83297682};
  Term x = operandOf(op);
  Term w = -((-(x * x)).apply<Log1pOp>());
  Term near = polynomial(w - 2.5, central), far = polynomial(w.apply<SqrtOp>() - 3, tail);
  Term result = near.where(w < 5, far) * x;
  if (elementOf(x.value).isF64())
    for (int step = 0; step < 2; ++step) {
      Term error = result.apply<ErfOp>() - x;
      Term slope = (-(result * result)).apply<ExpOp>() * (2 * std::numbers::inv_sqrtpi);
      result = result - error / slope;
    }
  Term infinity = x * std::numeric_limits<double>::infinity();
  setResult(op, infinity.where(x.apply<AbsOp>() == x.with(x.number(1)), result));
}

/// C. Lanczos, "A Precision Approximation of the Gamma Function", 1964, with g = 7 and 9 terms:
/// Γ(z + 1) = √(2π) · (z + g + ½)^(z + ½) · e^-(z + g + ½) · A(z), A(z) = c₀ + Σ cᵢ / (z + i).
static constexpr double lanczosG = 7, lanczosBase = 0.99999999999980993227684700473478;
static constexpr double lanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

namespace {
/// The parts of Lanczos' formula at z = x - 1, or at -x where x < ½ is to be reflected.
struct Lanczos {
  Value reflects;
  Term z, sum, slope, logT;

  explicit Lanczos(Term x)
      : reflects(x < 0.5), z((-x).where(reflects, x - 1)), sum(z.with(z.number(lanczosBase))),
        slope(z.with(z.number(0))),
        logT((z / (lanczosG + 0.5)).apply<Log1pOp>() + std::log(lanczosG + 0.5)) {
    for (auto [index, coefficient] : llvm::enumerate(lanczos)) {
      Term distance = z + double(index + 1);
      sum = sum + z.with(z.number(coefficient)) / distance;
      slope = slope - z.with(z.number(coefficient)) / (distance * distance);
    }
  }
};
} // namespace

/// log |Γ(x)|; below ½ by Γ(x) · Γ(1 - x) = π / sin(πx).
static void importLgamma(Instruction &op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Term x = operandOf(op);
  Lanczos parts(x);
  Term t = parts.z + (lanczosG + 0.5);
  Term direct = (parts.z + 0.5 - t / parts.logT) * parts.logT + parts.sum.apply<LogOp>() +
                0.5 * std::log(2 * std::numbers::pi);
  Term size = x.apply<AbsOp>(), fraction = size - size.apply<FloorOp>();
  Term near =
      (-fraction + 1)
          .where(op.emit.compare(CompareDirection::GT, fraction.value, fraction.number(0.5)),
                 fraction);
  Term sine = (near * std::numbers::pi).apply<SinOp>().apply<LogOp>();
  Value isFinite = op.emit.compare(CompareDirection::GT, sine.value, sine.number(-infinity));
  Term reflected = (-sine - direct + std::log(std::numbers::pi)).where(isFinite, -sine);
  Term result = reflected.where(parts.reflects, direct);
  setResult(op, size.where(size == size.with(size.number(infinity)), result));
}

/// The derivative of log Γ; below ½ by ψ(1 - x) - ψ(x) = π / tan(πx).
static void importDigamma(Instruction &op) {
  Term x = operandOf(op);
  Lanczos parts(x);
  Term t = parts.z + (lanczosG + 0.5);
  Term direct = parts.logT + parts.slope / parts.sum - t.with(t.number(lanczosG)) / t;
  // The cotangent has period 1: near a pole, the distance to it counts.
  Term reduced = (x + (x + 0.5).apply<FloorOp>().apply<AbsOp>()) * std::numbers::pi;
  Term cotangent = reduced.apply<CosOp>() / reduced.apply<SinOp>();
  Term result = (direct - cotangent * std::numbers::pi).where(parts.reflects, direct);
  Value isPole = op.emit.binary<AndOp>(op.emit.compare(CompareDirection::LE, x.value, x.number(0)),
                                       x == x.apply<FloorOp>());
  Term none = x.with(x.number(std::numeric_limits<double>::quiet_NaN()));
  setResult(op, none.where(isPole, result));
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

void stablehlo::addSpecial(OpTable &table) {
  table["chlo.digamma"] = importDigamma;
  table["chlo.erf_inv"] = importErfInv;
  table["chlo.lgamma"] = importLgamma;
  table["stablehlo.reduce_precision"] = importReducePrecision;
}
