//===- KernelMath.cpp - elementary functions of kernels -------------------===//
//
// Compiled to LLVM bitcode when Weft is built, and inlined into every kernel that calls them: no
// kernel needs a math library. Functions that models use in bulk (exp, tanh, erf of f32) are free
// of branches, so that loops over them become vectors; the rest of f32 is computed in f64. Errors:
// f32 at most 2 units in the last place, f64 1e-14 relative, sin and cos for arguments below 1e6.
//
// Functions are named as operations of the arith and math dialects are, with the type behind:
// math.exp on f32 is a call of weft_exp_f32.
//
// Sources: exp, tanh (f32): runtime/Support/FloatMath.h. erf (f32): N. Juffa's minimax polynomials.
// log, sin, cos, atan (f64): Sun Microsystems' fdlibm. Reductions of arguments: Cody and Waite.
// Rounding by adding 1.5·2^(mantissa bits).
//
//===----------------------------------------------------------------------===//

#include "runtime/Support/FloatMath.h"

#include <stdint.h>

using namespace weft::math;

namespace {

constexpr double infinity = __builtin_inf();
constexpr double notANumber = __builtin_nan("");

/// A magnitude with the sign of another number. No __builtin_copysign: rounded to f16, LLVM makes
/// one of f16 with a sign of f64, for which it calls a library.
inline double withSign(double magnitude, double sign) {
  return bits<uint64_t>(sign) >> 63 ? -magnitude : magnitude;
}

inline double scale(double x, int64_t exponent) {
  int64_t half = exponent >> 1;
  double first = bits<double>(uint64_t(half + 1023) << 52);
  double second = bits<double>(uint64_t(exponent - half + 1023) << 52);
  return x * first * second;
}

/// exp(r) - 1 for |r| ≤ 0.36.
inline double expm1Near0(double r) {
  double p = horner(r, 1.0 / 87178291200.0, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
                    1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0,
                    1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5);
  return p * (r * r) + r;
}

inline double exp64(double x) {
  x = x < -746.0 ? -746.0 : x;
  x = x > 710.0 ? 710.0 : x;
  double shifted = x * 1.44269504088896338700 + 6755399441055744.0;
  double n = shifted - 6755399441055744.0;
  double r = x - n * 6.93147180369123816490e-01;
  r = r - n * 1.90821492927058770002e-10;
  return scale(expm1Near0(r) + 1.0, int64_t(bits<uint64_t>(shifted) - 0x4338000000000000u));
}

inline double expm1(double x) {
  double near = expm1Near0(x > 0.36 || x < -0.36 ? 0.0 : x);
  return x > 0.36 || x < -0.36 || x != x ? exp64(x) - 1.0 : near;
}

inline double log64(double x) {
  bool isSmall = x < 2.2250738585072014e-308;
  double scaled = isSmall ? x * 18014398509481984.0 : x;
  uint64_t word = bits<uint64_t>(scaled);
  // Adding the difference of 1 and √½ moves the mantissa's range to [√½, √2).
  uint64_t moved = word + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  double k = double(int32_t(moved >> 52) - 1023 - (isSmall ? 54 : 0));
  double f = bits<double>((moved & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
  double s = f / (2.0 + f), z = s * s;
  double r =
      z * horner(z, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                 2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                 6.666666666666735130e-01);
  double half = 0.5 * f * f;
  double result = k * 6.93147180369123816490e-01 -
                  ((half - (s * (half + r) + k * 1.90821492927058770002e-10)) - f);
  result = x == infinity ? infinity : result;
  result = x == 0.0 ? -infinity : result;
  return x < 0.0 || x != x ? notANumber : result;
}

/// log(1 + x) by Kahan's correction of the rounding of 1 + x.
inline double log1p64(double x) {
  double u = 1.0 + x;
  double corrected = log64(u) * (x / (u - 1.0));
  return u == 1.0 ? x : u == infinity ? u : corrected;
}

inline double tanh64(double x) {
  double magnitude = __builtin_fabs(x);
  double m = expm1(2.0 * (magnitude > 40.0 ? 40.0 : magnitude));
  return withSign(m / (m + 2.0), x);
}

inline float erf32(float x) {
  float t = __builtin_fabsf(x);
  t = t > 10.0f ? 10.0f : t;
  float s = t * t;
  float r = -1.72853470e-5f * t + 3.83197126e-4f;
  float u = -3.88396438e-3f * t + 2.42546219e-2f;
  r = r * s + u;
  r = horner(t, r, -1.06777877e-1f, -6.34846687e-1f, -1.28717512e-1f) * t - t;
  float far = __builtin_copysignf(1.0f - exp32(r), x);
  float near = horner(s, -5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f, 1.12819925e-1f,
                      -3.76125336e-1f, 1.28379166e-1f);
  near = near * x + x;
  return t > 0.927734375f ? far : near;
}

/// 2/√π · exp(-x²) · Σ 2ⁿ x²ⁿ⁺¹ / (2n+1)!!: all terms are positive.
inline double erf64(double x) {
  double t = __builtin_fabs(x);
  t = t > 6.0 ? 6.0 : t;
  double term = t, sum = t;
  for (int n = 1; n < 140; ++n) {
    term *= 2.0 * t * t / (2 * n + 1);
    sum += term;
  }
  double result = 1.12837916709551257390 * exp64(-t * t) * sum;
  return withSign(result > 1.0 ? 1.0 : result, x);
}

struct Angle {
  double rest;      ///< in [-π/4, π/4]
  uint64_t quarter; ///< turns by π/2, modulo 4 in the low bits
};

inline Angle reduceAngle(double x) {
  double shifted = x * 0.63661977236758134308 + 6755399441055744.0;
  double n = shifted - 6755399441055744.0;
  double rest = x - n * 1.57079632673412561417e+00;
  rest = rest - n * 6.07710050630396597660e-11;
  rest = rest - n * 2.02226624879595063154e-21;
  // Beyond 2^52 there is no telling where in its turn the angle lies.
  rest = rest > 1.0 ? 1.0 : rest < -1.0 ? -1.0 : rest;
  return {rest, bits<uint64_t>(shifted)};
}

inline double sinNear0(double x) {
  double z = x * x;
  double p =
      horner(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
             -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01);
  return x + x * z * p;
}

inline double cosNear0(double x) {
  double z = x * x;
  double p = horner(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09,
                    -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                    -1.38888888888741095749e-03, 4.16666666666666019037e-02);
  return 1.0 - (0.5 * z - z * z * p);
}

inline double sinAfter(Angle angle, uint64_t turns) {
  uint64_t quarter = angle.quarter + turns;
  double value = quarter & 1 ? cosNear0(angle.rest) : sinNear0(angle.rest);
  return quarter & 2 ? -value : value;
}

inline double sin64(double x) { return sinAfter(reduceAngle(x), 0); }
inline double cos64(double x) { return sinAfter(reduceAngle(x), 1); }
inline double tan64(double x) {
  Angle angle = reduceAngle(x);
  return sinAfter(angle, 0) / sinAfter(angle, 1);
}

inline double atan64(double x) {
  double t = __builtin_fabs(x);
  double top = t, bottom = 1.0, start = 0.0;
  bool isSmall = t < 0.4375, isHalf = t < 0.6875, isOne = t < 1.1875, isMore = t < 2.4375;
  top = isSmall ? t : isHalf ? 2.0 * t - 1.0 : isOne ? t - 1.0 : isMore ? t - 1.5 : -1.0;
  bottom = isSmall ? 1.0 : isHalf ? 2.0 + t : isOne ? t + 1.0 : isMore ? 1.0 + 1.5 * t : t;
  start = isSmall  ? 0.0
          : isHalf ? 4.63647609000806093515e-01
          : isOne  ? 7.85398163397448278999e-01
          : isMore ? 9.82793723247329054082e-01
                   : 1.57079632679489655800;
  double r = top / bottom, z = r * r;
  double p =
      horner(z, 1.62858201153657823623e-02, -3.65315727442169155270e-02, 4.97687799461593236017e-02,
             -5.83357013379057348645e-02, 6.66107313738753120669e-02, -7.69187620504482999495e-02,
             9.09088713343650656196e-02, -1.11111104054623557880e-01, 1.42857142725034663711e-01,
             -1.99999999998764832476e-01, 3.33333333333329318027e-01);
  double result = start + (r - r * (z * p));
  return x != x ? x : withSign(result, x);
}

inline double asin64(double x) { return atan64(x / __builtin_sqrt((1.0 - x) * (1.0 + x))); }
inline double acos64(double x) { return 2.0 * atan64(__builtin_sqrt((1.0 - x) / (1.0 + x))); }

inline double sinh64(double x) {
  double t = __builtin_fabs(x);
  double half = exp64(0.5 * t), m = expm1(t > 700.0 ? 700.0 : t);
  double near = 0.5 * (m + m / (m + 1.0)), far = 0.5 * half * half;
  return withSign(t > 20.0 ? far : near, t != t ? t : x);
}

inline double cosh64(double x) {
  double half = exp64(0.5 * __builtin_fabs(x)), whole = half * half;
  return 0.5 * whole + 0.5 / whole;
}

inline double pow64(double x, double y) {
  bool isWhole = y == __builtin_floor(y), isOdd = isWhole && 0.5 * y != __builtin_floor(0.5 * y);
  double magnitude = exp64(y * log64(__builtin_fabs(x)));
  bool isNegative = bits<uint64_t>(x) >> 63;
  double result = isNegative && isOdd ? -magnitude : magnitude;
  result = x < 0.0 && !isWhole && x != -infinity ? notANumber : result;
  bool staysOne = x == -1.0 && (y == infinity || y == -infinity);
  return y == 0.0 || x == 1.0 || staysOne ? 1.0 : x != x || y != y ? notANumber : result;
}

/// The exact remainder, one bit of the quotient at a time.
inline double fmod64(double x, double y) {
  uint64_t a = bits<uint64_t>(x) & 0x7fffffffffffffffu,
           divisor = bits<uint64_t>(y) & 0x7fffffffffffffffu;
  if (divisor == 0 || a >= 0x7ff0000000000000u || divisor > 0x7ff0000000000000u)
    return notANumber;
  if (a < divisor)
    return x;
  auto exponent = [](uint64_t word) { return word >> 52 ? int64_t(word >> 52) : 1; };
  auto mantissa = [](uint64_t word) {
    return (word & 0x000fffffffffffffu) | (word >> 52 ? 0x0010000000000000u : 0);
  };
  uint64_t rest = mantissa(a), step = mantissa(divisor);
  int64_t at = exponent(a), end = exponent(divisor);
  for (; !(rest >> 52); --at)
    rest <<= 1;
  for (; !(step >> 52); --end)
    step <<= 1;
  for (;; rest <<= 1, --at) {
    rest = rest >= step ? rest - step : rest;
    if (at == end || rest == 0)
      break;
  }
  if (rest == 0)
    return withSign(0.0, x);
  for (; !(rest >> 52) && end > 1; --end)
    rest <<= 1;
  // Subnormal results have no hidden bit; the bits shifted out are zero.
  for (; end < 1; ++end)
    rest >>= 1;
  uint64_t word = rest >> 52 ? (rest & 0x000fffffffffffffu) | uint64_t(end) << 52 : rest;
  return withSign(bits<double>(word), x);
}

/// The angle of (x, y), from that of the quotient of magnitudes that is at most 1.
inline double atan2Of(double y, double x) {
  double high = __builtin_fabs(x), low = __builtin_fabs(y);
  bool isSteep = low > high;
  double dividend = isSteep ? high : low, divisor = isSteep ? low : high;
  double quotient = dividend == divisor ? 1.0 : dividend / divisor;
  double angle = atan64(divisor == 0.0 ? 0.0 : quotient);
  angle = isSteep ? 1.57079632679489661923 - angle : angle;
  angle = __builtin_signbit(x) ? 3.14159265358979323846 - angle : angle;
  return x != x || y != y ? notANumber : withSign(angle, y);
}

/// A guess of 5 bits from a third of the exponent, then Halley's iteration.
inline double cbrt64(double x) {
  double magnitude = __builtin_fabs(x);
  bool isSmall = magnitude < 2.2250738585072014e-308;
  double scaled = isSmall ? magnitude * 18014398509481984.0 : magnitude;
  double root = bits<double>(bits<uint64_t>(scaled) / 3 + 0x2a9f7893782da1ceu);
  for (int step = 0; step < 4; ++step) {
    double cube = root * root * root;
    root = root * (cube + 2.0 * scaled) / (2.0 * cube + scaled);
  }
  root = isSmall ? root * 3.814697265625e-06 : root; // 2^-18
  return x == 0.0 || x != x || magnitude == infinity ? x : withSign(root, x);
}

} // namespace

#define WEFT_UNARY(NAME, F32, F64)                                                                 \
  extern "C" float weft_##NAME##_f32(float x) { return F32; }                                      \
  extern "C" double weft_##NAME##_f64(double x) { return F64; }
#define WEFT_UNARY_WIDE(NAME) WEFT_UNARY(NAME, float(NAME##64(x)), NAME##64(x))

WEFT_UNARY_WIDE(acos)
WEFT_UNARY_WIDE(asin)
WEFT_UNARY_WIDE(atan)
WEFT_UNARY_WIDE(cbrt)
WEFT_UNARY_WIDE(cos)
WEFT_UNARY_WIDE(cosh)
WEFT_UNARY(erf, erf32(x), erf64(x))
WEFT_UNARY(exp, exp32(x), exp64(x))
WEFT_UNARY(expm1, float(expm1(x)), expm1(x))
WEFT_UNARY_WIDE(log)
WEFT_UNARY_WIDE(log1p)
WEFT_UNARY_WIDE(sin)
WEFT_UNARY_WIDE(sinh)
WEFT_UNARY_WIDE(tan)
WEFT_UNARY(tanh, tanh32(x), tanh64(x))

extern "C" float weft_atan2_f32(float y, float x) { return float(atan2Of(y, x)); }
extern "C" double weft_atan2_f64(double y, double x) { return atan2Of(y, x); }
extern "C" float weft_powf_f32(float x, float y) { return float(pow64(x, y)); }
extern "C" double weft_powf_f64(double x, double y) { return pow64(x, y); }
extern "C" float weft_remf_f32(float x, float y) { return float(fmod64(x, y)); }
extern "C" double weft_remf_f64(double x, double y) { return fmod64(x, y); }

/// Wraps around. Negative exponents: 1/base rounded towards zero, and 0 for base 0.
extern "C" int64_t weft_ipowi_i64(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, square = uint64_t(base);
  for (uint64_t rest = uint64_t(exponent); rest != 0; rest >>= 1, square *= square)
    result *= rest & 1 ? square : 1;
  return int64_t(result);
}
