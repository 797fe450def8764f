//===- FloatMath.h - elementary functions in f32 ----------------*- C++ -*-===//
//
// Free of branches, so that loops over them become vectors. Errors: at most 2 units in the last
// place. Source of exp and tanh: S. Moshier, Cephes. Generated kernels and the runtime's own loops
// share them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SUPPORT_FLOATMATH_H
#define WEFT_RUNTIME_SUPPORT_FLOATMATH_H

#include <stdint.h>

namespace weft::math {

template <typename To, typename From> [[gnu::always_inline]] inline To bits(From from) {
  To to;
  static_assert(sizeof(to) == sizeof(from));
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

/// The polynomial with these coefficients, highest first.
template <typename T> [[gnu::always_inline]] inline T horner(T, T sum) { return sum; }
template <typename T, typename... Rest>
[[gnu::always_inline]] inline T horner(T x, T sum, T next, Rest... rest) {
  return horner(x, sum * x + next, rest...);
}

[[gnu::always_inline]] inline float scale(float x, int32_t exponent) {
  int32_t half = exponent >> 1;
  float first = bits<float>(uint32_t(half + 127) << 23);
  float second = bits<float>(uint32_t(exponent - half + 127) << 23);
  return x * first * second;
}

[[gnu::always_inline]] inline float exp32(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  float shifted = x * 1.44269504088896341f + 12582912.0f;
  float n = shifted - 12582912.0f;
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = horner(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                   1.6666665459e-1f, 5.0000001201e-1f);
  p = p * (r * r) + r + 1.0f;
  return scale(p, int32_t(bits<uint32_t>(shifted) - 0x4b400000u));
}

[[gnu::always_inline]] inline float tanh32(float x) {
  float z = x * x;
  float near = horner(z, -5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                      1.33314422036e-1f, -3.33332819422e-1f);
  near = near * z * x + x;
  float magnitude = __builtin_fabsf(x);
  float far = 1.0f - 2.0f / (exp32(2.0f * magnitude) + 1.0f);
  return magnitude < 0.625f ? near : __builtin_copysignf(far, x);
}

} // namespace weft::math

#endif // WEFT_RUNTIME_SUPPORT_FLOATMATH_H
