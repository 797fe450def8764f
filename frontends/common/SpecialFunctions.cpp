// Special functions, by formulas and approximations.

#include "frontends/common/SpecialFunctions.h"

#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

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
  Value isZero() const { return *this == with(number(0)); }
  template <typename Op> Term apply() const { return with(emit->unary<Op>(value)); }
  /// This where `condition` holds, else the other.
  Term where(Value condition, Term otherwise) const {
    return with(emit->select(condition, value, otherwise.value));
  }
};
} // namespace

static Term polynomial(Term x, ArrayRef<double> coefficients) {
  Term sum = x.with(x.number(coefficients.front()));
  for (double coefficient : coefficients.drop_front())
    sum = sum * x + coefficient;
  return sum;
}

/// Above it log(2x) is as exact as the type is, and squares may overflow.
static double largeNumber(Value x) { return elementOf(x).isF16() ? 128 : 1e9; }

/// log(x + √((x - 1)·(x + 1))), of large numbers log(x) + log 2.
Value weft::frontend::emitAcosh(Emitter &emit, Value operand) {
  Term x{&emit, operand};
  Term small = (x + ((x - 1) * (x + 1)).apply<SqrtOp>()).apply<LogOp>();
  Term large = x.apply<LogOp>() + std::numbers::ln2;
  return small.where(x < largeNumber(operand), large).value;
}

/// sign(x) · log1p(|x| + x² / (1 + √(x² + 1))), of large numbers sign(x) · (log |x| + log 2).
Value weft::frontend::emitAsinh(Emitter &emit, Value operand) {
  Term x{&emit, operand};
  Term size = x.apply<AbsOp>(), square = x * x;
  Term small = (size + square / ((square + 1).apply<SqrtOp>() + 1)).apply<Log1pOp>();
  Term large = size.apply<LogOp>() + std::numbers::ln2;
  Term result = x.apply<SignOp>() * small.where(size < largeNumber(operand), large);
  return x.where(x.isZero(), result).value;
}

/// (log1p(x) - log1p(-x)) / 2
Value weft::frontend::emitAtanh(Emitter &emit, Value operand) {
  Term x{&emit, operand};
  Term result = (x.apply<Log1pOp>() - (-x).apply<Log1pOp>()) * 0.5;
  return x.where(x.isZero(), result).value;
}

/// 1 - erf(x); of -x 1 + erf(x), as gelu is written with erf.
Value weft::frontend::emitErfc(Emitter &emit, Value x) {
  if (auto negated = x.getDefiningOp<NegOp>())
    return emit.binary<AddOp>(emit.like(x, 1), emit.unary<ErfOp>(negated.getInput()));
  return emit.binary<SubOp>(emit.like(x, 1), emit.unary<ErfOp>(x));
}

/// M. Giles, "Approximating the erfinv function", 2010: single precision. Doubles are improved by
/// two of Newton's steps.
Value weft::frontend::emitErfInv(Emitter &emit, Value operand) {
  static constexpr double central[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                       -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                       -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                    -0.00367342844,  0.00573950773,  -0.0076224613,
                                    0.00943887047,   1.00167406,     2.83297682};
  Term x{&emit, operand};
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
  return infinity.where(x.apply<AbsOp>() == x.with(x.number(1)), result).value;
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
Value weft::frontend::emitLgamma(Emitter &emit, Value operand) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Term x{&emit, operand};
  Lanczos parts(x);
  Term t = parts.z + (lanczosG + 0.5);
  Term direct = (parts.z + 0.5 - t / parts.logT) * parts.logT + parts.sum.apply<LogOp>() +
                0.5 * std::log(2 * std::numbers::pi);
  Term size = x.apply<AbsOp>(), fraction = size - size.apply<FloorOp>();
  Term near = fraction.where(fraction < 0.5, -fraction + 1); // the distance to an integer
  Term sine = (near * std::numbers::pi).apply<SinOp>().apply<LogOp>();
  Value isFinite = emit.compare(CompareDirection::GT, sine.value, sine.number(-infinity));
  Term reflected = (-sine - direct + std::log(std::numbers::pi)).where(isFinite, -sine);
  Term result = reflected.where(parts.reflects, direct);
  return size.where(size == size.with(size.number(infinity)), result).value;
}

/// The derivative of log Γ; below ½ by ψ(1 - x) - ψ(x) = π / tan(πx).
Value weft::frontend::emitDigamma(Emitter &emit, Value operand) {
  Term x{&emit, operand};
  Lanczos parts(x);
  Term t = parts.z + (lanczosG + 0.5);
  Term direct = parts.logT + parts.slope / parts.sum - t.with(t.number(lanczosG)) / t;
  // The cotangent has period 1: near a pole, the distance to it counts.
  Term reduced = (x + (x + 0.5).apply<FloorOp>().apply<AbsOp>()) * std::numbers::pi;
  Term cotangent = reduced.apply<CosOp>() / reduced.apply<SinOp>();
  Term result = (direct - cotangent * std::numbers::pi).where(parts.reflects, direct);
  Value isPole = emit.binary<AndOp>(emit.compare(CompareDirection::LE, x.value, x.number(0)),
                                    x == x.apply<FloorOp>());
  Term none = x.with(x.number(std::numeric_limits<double>::quiet_NaN()));
  return none.where(isPole, result).value;
}
