//===- FloatCases.cpp - what instructions of floats compute ---------------===//
//
// Computed otherwise than by the stand-in: the processor's rounding modes, and for narrow formats a
// search for the nearest number among all that there are.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/InstructionCase.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace weft::test {

namespace {

using U = uint64_t;

float f(U a) { return std::bit_cast<float>(static_cast<uint32_t>(a)); }
double d(U a) { return std::bit_cast<double>(a); }
U bits(float a) { return std::bit_cast<uint32_t>(a); }
U bits(double a) { return std::bit_cast<uint64_t>(a); }

float flush(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }

template <class T, class F> T rounded(int mode, F compute) {
  std::fesetround(mode);
  volatile T result = compute();
  std::fesetround(FE_TONEAREST);
  return result;
}
template <class T> T add(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { return x + y; });
}
template <class T> T multiply(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { return x * y; });
}
template <class T> T divide(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { return x / y; });
}
template <class T> T fuse(int mode, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  return rounded<T>(mode, [&] { return std::fma(x, y, z); });
}
template <class T> T root(int mode, T a) {
  volatile T x = a;
  return rounded<T>(mode, [&] { return std::sqrt(x); });
}
template <class T, class From> T cast(int mode, From a) {
  volatile From x = a;
  return rounded<T>(mode, [&] { return static_cast<T>(x); });
}

//===--- Narrow formats ---------------------------------------------------===//

double half(U a) {
  int exponent = a >> 10 & 31, fraction = a & 1023;
  double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                               : std::ldexp(fraction, -24);
  return a & 0x8000 ? -size : size;
}
double bfloat(U a) { return f((a & 0xffff) << 16); }

/// The nearest of the format's numbers, by bisection; `value` may be any that a long double holds.
U nearest(long double value, double (*read)(U), U infinity) {
  if (std::isnan(value))
    return 0x7fff;
  U sign = std::signbit(value) ? 0x8000 : 0, low = 0, high = infinity;
  long double size = std::fabs(value);
  while (high - low > 1)
    (read((low + high) / 2) <= size ? low : high) = (low + high) / 2;
  if (size == INFINITY)
    return sign | infinity;
  // Infinity stands for the number that would come next.
  long double above = high == infinity ? 2 * (long double)read(low) - read(low - 1) : read(high);
  long double down = size - read(low), up = above - size;
  return sign | (down < up || (down == up && !(low & 1)) ? low : high);
}
U toHalf(long double value) { return nearest(value, half, 0x7c00); }
U toBfloat(long double value) { return nearest(value, bfloat, 0x7f80); }

//===--- To integers ------------------------------------------------------===//

template <class T> U toInteger(double value, bool fromDouble) {
  if (std::isnan(value))
    return fromDouble || sizeof(T) == 8 ? U(1) << (sizeof(T) * 8 - 1) : 0;
  if (value >= std::ldexp(1.0, sizeof(T) * 8 - std::is_signed_v<T>))
    return U(std::numeric_limits<T>::max());
  if (value <= double(std::numeric_limits<T>::min()))
    return U(std::make_unsigned_t<T>(std::numeric_limits<T>::min()));
  return U(std::make_unsigned_t<T>(T(value)));
}

float least(float a, float b, bool nan) {
  if (std::isnan(a) || std::isnan(b))
    return nan || (std::isnan(a) && std::isnan(b)) ? NAN : std::isnan(a) ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

constexpr Numbers F = Numbers::Floats, D = Numbers::Doubles, H = Numbers::Halves,
                  B = Numbers::Bfloats, I = Numbers::Integers;

const std::vector<InstructionCase> arithmetic = {
    {"add.rn.f32 %r0, %r1, %r2;", 'R', F, [](U a, U b, U) -> U { return bits(f(a) + f(b)); }},
    {"add.rz.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(add(FE_TOWARDZERO, f(a), f(b))); }},
    {"sub.rm.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(add(FE_DOWNWARD, f(a), -f(b))); }},
    {"add.rp.f64 %d0, %d1, %d2;", 'D', D,
     [](U a, U b, U) -> U { return bits(add(FE_UPWARD, d(a), d(b))); }},
    {"add.ftz.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(flush(flush(f(a)) + flush(f(b)))); }},
    {"add.sat.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U {
       float s = f(a) + f(b);
       return bits(s >= 1 ? 1.0f : s > 0 ? s : 0.0f);
     }},
    {"mul.rn.f32 %r0, %r1, %r2;", 'R', F, [](U a, U b, U) -> U { return bits(f(a) * f(b)); }},
    {"mul.rp.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(multiply(FE_UPWARD, f(a), f(b))); }},
    {"mul.rz.f64 %d0, %d1, %d2;", 'D', D,
     [](U a, U b, U) -> U { return bits(multiply(FE_TOWARDZERO, d(a), d(b))); }},
    {"fma.rn.f32 %r0, %r1, %r2, %r3;", 'R', F,
     [](U a, U b, U c) -> U { return bits(std::fma(f(a), f(b), f(c))); }},
    {"fma.rm.f32 %r0, %r1, %r2, %r3;", 'R', F,
     [](U a, U b, U c) -> U { return bits(fuse(FE_DOWNWARD, f(a), f(b), f(c))); }},
    {"fma.rz.f32 %r0, %r1, %r2, %r3;", 'R', F,
     [](U a, U b, U c) -> U { return bits(fuse(FE_TOWARDZERO, f(a), f(b), f(c))); }},
    {"fma.rn.f64 %d0, %d1, %d2, %d3;", 'D', D,
     [](U a, U b, U c) -> U { return bits(std::fma(d(a), d(b), d(c))); }},
    {"fma.rp.f64 %d0, %d1, %d2, %d3;", 'D', D,
     [](U a, U b, U c) -> U { return bits(fuse(FE_UPWARD, d(a), d(b), d(c))); }},
    {"div.rn.f32 %r0, %r1, %r2;", 'R', F, [](U a, U b, U) -> U { return bits(f(a) / f(b)); }},
    {"div.rp.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(divide(FE_UPWARD, f(a), f(b))); }},
    {"div.rz.f64 %d0, %d1, %d2;", 'D', D,
     [](U a, U b, U) -> U { return bits(divide(FE_TOWARDZERO, d(a), d(b))); }},
    {"rcp.rn.f64 %d0, %d1;", 'D', D, [](U a, U, U) -> U { return bits(1 / d(a)); }},
    {"sqrt.rn.f32 %r0, %r1;", 'R', F, [](U a, U, U) -> U { return bits(std::sqrt(f(a))); }},
    {"sqrt.rm.f32 %r0, %r1;", 'R', F, [](U a, U, U) -> U { return bits(root(FE_DOWNWARD, f(a))); }},
    {"sqrt.rp.f64 %d0, %d1;", 'D', D, [](U a, U, U) -> U { return bits(root(FE_UPWARD, d(a))); }},
    {"min.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(least(f(a), f(b), false)); }},
    {"min.NaN.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(least(f(a), f(b), true)); }},
    {"max.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(-least(-f(a), -f(b), false)); }},
    {"neg.f32 %r0, %r1;", 'R', F, [](U a, U, U) -> U { return bits(-f(a)); }},
    {"abs.f64 %d0, %d1;", 'D', D, [](U a, U, U) -> U { return bits(std::fabs(d(a))); }},
    {"copysign.f32 %r0, %r1, %r2;", 'R', F,
     [](U a, U b, U) -> U { return bits(std::copysign(f(b), f(a))); }},
    {"ex2.approx.ftz.f32 %r0, %r1;", 'R', F,
     [](U a, U, U) -> U { return bits(flush(float(std::exp2(double(flush(f(a))))))); }},
    {"lg2.approx.f32 %r0, %r1;", 'R', F,
     [](U a, U, U) -> U { return bits(float(std::log2(double(f(a))))); }},
    {"rsqrt.approx.f32 %r0, %r1;", 'R', F,
     [](U a, U, U) -> U { return bits(float(1 / std::sqrt(double(f(a))))); }},
    {"tanh.approx.f32 %r0, %r1;", 'R', F,
     [](U a, U, U) -> U { return bits(float(std::tanh(double(f(a))))); }},
    {"sin.approx.f32 %r0, %r1;", 'R', F,
     [](U a, U, U) -> U { return bits(float(std::sin(double(f(a))))); }},
};

const std::vector<InstructionCase> narrow = {
    {"add.rn.f16 %h0, %h1, %h2;", 'H', H,
     [](U a, U b, U) -> U { return toHalf(half(a) + half(b)); }},
    {"mul.rn.f16 %h0, %h1, %h2;", 'H', H,
     [](U a, U b, U) -> U { return toHalf(half(a) * half(b)); }},
    {"fma.rn.f16 %h0, %h1, %h2, %h3;", 'H', H,
     [](U a, U b, U c) -> U { return toHalf((long double)(half(a) * half(b)) + half(c)); }},
    {"sub.rn.bf16 %h0, %h1, %h2;", 'B', B,
     [](U a, U b, U) -> U { return toBfloat((long double)bfloat(a) - bfloat(b)); }},
    {"mul.rn.bf16 %h0, %h1, %h2;", 'B', B,
     [](U a, U b, U) -> U { return toBfloat(bfloat(a) * bfloat(b)); }},
    {"max.f16 %h0, %h1, %h2;", 'H', H,
     [](U a, U b, U) -> U { return toHalf(-least(float(-half(a)), float(-half(b)), false)); }},
    {"neg.bf16 %h0, %h1;", 'B', B, [](U a, U, U) -> U { return (a ^ 0x8000) & 0xffff; }},
    {"fma.rn.f16x2 %r4, %r1, %r2, %r3; mov.b32 {_, %h0}, %r4;", 'H', Numbers::Integers,
     [](U a, U b, U c) -> U {
       return toHalf((long double)(half(a >> 16) * half(b >> 16)) + half(c >> 16));
     }},
    {"mul.rn.bf16x2 %r4, %r1, %r2; mov.b32 {%h0, _}, %r4;", 'B', I,
     [](U a, U b, U) -> U { return toBfloat(bfloat(a) * bfloat(b)); }},
    {"cvt.rn.f16.f32 %h0, %r1;", 'H', F, [](U a, U, U) -> U { return toHalf(f(a)); }},
    {"cvt.rn.bf16.f32 %h0, %r1;", 'B', F, [](U a, U, U) -> U { return toBfloat(f(a)); }},
    {"cvt.rn.f16.f64 %h0, %d1;", 'H', D, [](U a, U, U) -> U { return toHalf(d(a)); }},
    {"cvt.rn.bf16x2.f32 %r4, %r2, %r1; mov.b32 {_, %h0}, %r4;", 'B', F,
     [](U, U b, U) -> U { return toBfloat(f(b)); }},
    {"cvt.rn.f16x2.f32 %r4, %r2, %r1; mov.b32 {%h0, _}, %r4;", 'H', F,
     [](U a, U, U) -> U { return toHalf(f(a)); }},
    {"cvt.f32.f16 %r0, %h1;", 'R', H, [](U a, U, U) -> U { return bits(float(half(a))); }},
    {"cvt.f32.bf16 %r0, %h1;", 'R', B, [](U a, U, U) -> U { return bits(float(bfloat(a))); }},
    {"cvt.f64.f16 %d0, %h1;", 'D', H, [](U a, U, U) -> U { return bits(half(a)); }},
    {"cvt.rn.f16.s32 %h0, %r1;", 'H', I, [](U a, U, U) -> U { return toHalf(int32_t(a)); }},
    {"cvt.rn.bf16.u64 %h0, %d1;", 'B', I, [](U a, U, U) -> U { return toBfloat((long double)a); }},
    {"cvt.rzi.s16.f16 %h0, %h1;", 'h', H,
     [](U a, U, U) -> U { return toInteger<int16_t>(std::trunc(half(a)), false); }},
};

const std::vector<InstructionCase> conversions = {
    {"cvt.rzi.s32.f32 %r0, %r1;", 'r', F,
     [](U a, U, U) -> U { return toInteger<int32_t>(std::trunc(f(a)), false); }},
    {"cvt.rni.u32.f32 %r0, %r1;", 'r', F,
     [](U a, U, U) -> U { return toInteger<uint32_t>(std::nearbyint(f(a)), false); }},
    {"cvt.rmi.s64.f32 %d0, %r1;", 'd', F,
     [](U a, U, U) -> U { return toInteger<int64_t>(std::floor(f(a)), false); }},
    {"cvt.rpi.s32.f64 %r0, %d1;", 'r', D,
     [](U a, U, U) -> U { return toInteger<int32_t>(std::ceil(d(a)), true); }},
    {"cvt.rzi.u64.f64 %d0, %d1;", 'd', D,
     [](U a, U, U) -> U { return toInteger<uint64_t>(std::trunc(d(a)), true); }},
    {"cvt.rzi.u8.f32 %r0, %r1;", 'r', F,
     [](U a, U, U) -> U { return toInteger<uint8_t>(std::trunc(f(a)), false); }},
    {"cvt.rmi.f32.f32 %r0, %r1;", 'R', F, [](U a, U, U) -> U { return bits(std::floor(f(a))); }},
    {"cvt.rni.f64.f64 %d0, %d1;", 'D', D,
     [](U a, U, U) -> U { return bits(std::nearbyint(d(a))); }},
    {"cvt.sat.f32.f32 %r0, %r1;", 'R', F,
     [](U a, U, U) -> U {
       return bits(f(a) >= 1 ? 1.0f : f(a) > 0 ? f(a) : 0.0f);
     }},
    {"cvt.rn.f32.s32 %r0, %r1;", 'R', I, [](U a, U, U) -> U { return bits(float(int32_t(a))); }},
    {"cvt.rp.f32.u64 %r0, %d1;", 'R', I,
     [](U a, U, U) -> U { return bits(cast<float>(FE_UPWARD, a)); }},
    {"cvt.rz.f32.s64 %r0, %d1;", 'R', I,
     [](U a, U, U) -> U { return bits(cast<float>(FE_TOWARDZERO, int64_t(a))); }},
    {"cvt.rm.f64.s64 %d0, %d1;", 'D', I,
     [](U a, U, U) -> U { return bits(cast<double>(FE_DOWNWARD, int64_t(a))); }},
    {"cvt.rn.f64.u64 %d0, %d1;", 'D', I, [](U a, U, U) -> U { return bits(double(a)); }},
    {"cvt.f64.f32 %d0, %r1;", 'D', F, [](U a, U, U) -> U { return bits(double(f(a))); }},
    {"cvt.rn.f32.f64 %r0, %d1;", 'R', D, [](U a, U, U) -> U { return bits(float(d(a))); }},
    {"cvt.rz.f32.f64 %r0, %d1;", 'R', D,
     [](U a, U, U) -> U { return bits(cast<float>(FE_TOWARDZERO, d(a))); }},
    {"cvt.rp.f32.f64 %r0, %d1;", 'R', D,
     [](U a, U, U) -> U { return bits(cast<float>(FE_UPWARD, d(a))); }},
};

const std::vector<InstructionCase> comparisons = {
    {"setp.lt.f32 %p0, %r1, %r2;", 'p', F, [](U a, U b, U) -> U { return f(a) < f(b); }},
    {"setp.ltu.f32 %p0, %r1, %r2;", 'p', F, [](U a, U b, U) -> U { return !(f(a) >= f(b)); }},
    {"setp.neu.f64 %p0, %d1, %d2;", 'p', D, [](U a, U b, U) -> U { return d(a) != d(b); }},
    {"setp.ne.f64 %p0, %d1, %d2;", 'p', D,
     [](U a, U b, U) -> U { return d(a) < d(b) || d(a) > d(b); }},
    {"setp.nan.f32 %p0, %r1, %r2;", 'p', F,
     [](U a, U b, U) -> U { return f(a) != f(a) || f(b) != f(b); }},
    {"setp.num.f32 %p0, %r1, %r2;", 'p', F,
     [](U a, U b, U) -> U { return f(a) == f(a) && f(b) == f(b); }},
    {"setp.geu.f16 %p0, %h1, %h2;", 'p', H, [](U a, U b, U) -> U { return !(half(a) < half(b)); }},
    {"setp.eq.bf16 %p0, %h1, %h2;", 'p', B,
     [](U a, U b, U) -> U { return bfloat(a) == bfloat(b); }},
    {"setp.gtu.f32 %p4|%p0, %r1, %r2;", 'p', F, [](U a, U b, U) -> U { return f(a) <= f(b); }},
    {"setp.gt.f32 %p0, %r1, 0f3F800000;", 'p', F, [](U a, U, U) -> U { return f(a) > 1; }},
    {"testp.subnormal.f32 %p0, %r1;", 'p', F,
     [](U a, U, U) -> U { return std::fpclassify(f(a)) == FP_SUBNORMAL; }},
    {"testp.finite.f64 %p0, %d1;", 'p', D, [](U a, U, U) -> U { return std::isfinite(d(a)); }},
    {"selp.f64 %d0, %d1, 0d3FF0000000000000, %p2;", 'D', D,
     [](U a, U b, U) -> U { return b & 1 ? a : bits(1.0); }},
};

} // namespace

std::vector<InstructionCase> getFloatCases() {
  std::vector<InstructionCase> cases;
  for (const auto *group : {&arithmetic, &narrow, &conversions, &comparisons})
    cases.insert(cases.end(), group->begin(), group->end());
  return cases;
}

} // namespace weft::test
