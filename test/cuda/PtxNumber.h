//===- PtxNumber.h - PTX's types and their rounding -------------*- C++ -*-===//
//
// Read by translated kernels. Registers are unsigned integers, which an instruction reads as what
// its type says.
//
// Results in other roundings than the machine's, and in narrower formats, are computed in double
// and rounded once more. Twice rounded is right if the first rounding is to odd: an inexact double
// gets the neighbour whose last bit is 1, so that it lies on the true result's side of whatever the
// narrower format has to decide. For example, 1 + 2^-80 as bf16, upwards: the sum in double is 1
// exactly; to odd it is 1 + 2^-52; upwards 1 + 2^-7, as of the true sum.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXNUMBER_H
#define WEFT_TEST_CUDA_PTXNUMBER_H

#include <fenv.h>
#include <stdint.h>

namespace weft::test::ptx {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
using u128 = unsigned __int128;
using s128 = __int128;
using f32 = float;
using f64 = double;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

enum Round { RN, RNA, RZ, RM, RP }; ///< to nearest even, to nearest away from 0, to 0, down, up

template <class T> struct Format {
  static constexpr bool isFloat = false;
};
template <class BitsOf, int fractionBits, int exponentBits, u64 nanBits> struct FloatFormat {
  static constexpr bool isFloat = true;
  static constexpr int fraction = fractionBits, exponent = exponentBits;
  static constexpr u64 nan = nanBits;
  using Bits = BitsOf;
};
template <> struct Format<f16> : FloatFormat<u16, 10, 5, 0x7fff> {};
template <> struct Format<bf16> : FloatFormat<u16, 7, 8, 0x7fff> {};
template <> struct Format<f32> : FloatFormat<u32, 23, 8, 0x7fffffff> {};
template <> struct Format<f64> : FloatFormat<u64, 52, 11, 0x7ff8000000000000> {};

template <class T> inline constexpr bool isFloat = Format<T>::isFloat;
template <class T> inline constexpr bool isSigned = !isFloat<T> && T(-1) < T(0);
template <class A, class B> inline constexpr bool isSame = false;
template <class A> inline constexpr bool isSame<A, A> = true;
template <class T> inline constexpr bool isNarrow = isSame<T, f16> || isSame<T, bf16>;

template <class T> using BitsOf = typename Format<T>::Bits;

/// A register's or constant's low bits as a value of type T.
template <class T, class R> inline T as(R bits) {
  if constexpr (isFloat<T>)
    return __builtin_bit_cast(T, static_cast<BitsOf<T>>(bits));
  else
    return static_cast<T>(bits);
}

template <class T> inline auto bitsOf(T value) {
  if constexpr (isFloat<T>)
    return __builtin_bit_cast(BitsOf<T>, value);
  else
    return value;
}

/// Signed values fill a wider register with their sign.
template <class T, class R> inline void set(R &target, T value) {
  target = static_cast<R>(bitsOf(value));
}

//===----------------------------------------------------------------------===//
// Between formats
//===----------------------------------------------------------------------===//

/// The double's significand, of 53 bits, without its last `drop` ones.
inline u64 roundOff(u64 significand, int drop, bool negative, Round round) {
  if (drop <= 0)
    return significand << -drop;
  drop = drop > 63 ? 63 : drop;
  u64 kept = significand >> drop, rest = significand & ((1ull << drop) - 1);
  u64 half = 1ull << (drop - 1);
  bool up = false;
  switch (round) {
  case RN:
    up = rest > half || (rest == half && (kept & 1));
    break;
  case RNA:
    up = rest >= half;
    break;
  case RZ:
    break;
  case RM:
    up = negative && rest;
    break;
  case RP:
    up = !negative && rest;
    break;
  }
  return kept + up;
}

template <class T> inline T narrow(f64 value, Round round) {
  using F = Format<T>;
  u64 bits = bitsOf(value), fraction = bits & ((1ull << 52) - 1);
  int exponent = bits >> 52 & 2047;
  bool negative = bits >> 63;
  u64 sign = static_cast<u64>(negative) << (F::fraction + F::exponent);
  u64 infinity = ((1ull << F::exponent) - 1) << F::fraction;
  if (exponent == 2047)
    return as<T>(fraction ? F::nan : sign | infinity);
  constexpr int bias = (1 << (F::exponent - 1)) - 1;
  u64 significand = exponent ? fraction | 1ull << 52 : fraction;
  int power = (exponent ? exponent : 1) - 1023, below = 1 - bias - power;
  u64 kept = roundOff(significand, 52 - F::fraction + (below > 0 ? below : 0), negative, round);
  if (below <= 0) // normal: the hidden bit becomes part of the exponent
    kept += static_cast<u64>(power + bias - 1) << F::fraction;
  if (kept >= infinity) {
    bool stays = round == RZ || (round == RM && !negative) || (round == RP && negative);
    kept = stays ? infinity - 1 : infinity;
  }
  return as<T>(sign | kept);
}

inline f32 widen(f16 value) {
  u32 sign = (value.bits & 0x8000u) << 16, exponent = value.bits >> 10 & 31;
  u32 fraction = value.bits & 0x3ffu;
  if (exponent == 31)
    return as<f32>(fraction ? 0x7fffffffu : sign | 0x7f800000u);
  if (exponent)
    return as<f32>(sign | (exponent + 112) << 23 | fraction << 13);
  return as<f32>(sign | bitsOf(static_cast<f32>(fraction) * 0x1p-24f));
}
inline f32 widen(bf16 value) { return as<f32>(static_cast<u32>(value.bits) << 16); }
inline f32 widen(f32 value) { return value; }
inline f64 widen(f64 value) { return value; }

template <class T> inline bool isNan(T value) { return widen(value) != widen(value); }

/// A result of arithmetic in double, as T; NaNs become the one that the hardware makes.
template <class T> inline T finish(f64 value, Round round) {
  if constexpr (isSame<T, f64>)
    return value;
  else if constexpr (isSame<T, f32>)
    return round != RN      ? narrow<f32>(value, round)
           : value != value ? as<f32>(0x7fffffffu)
                            : static_cast<f32>(value);
  else
    return narrow<T>(value, round);
}

template <class T> inline T flush(T value, bool ftz) {
  if constexpr (!isSame<T, f64>) {
    using F = Format<T>;
    constexpr u64 mask = ((1ull << F::exponent) - 1) << F::fraction;
    if (ftz && !(bitsOf(value) & mask))
      return as<T>(bitsOf(value) & ~(mask | ((1ull << F::fraction) - 1)));
  }
  return value;
}

template <class T> inline T saturate(T value, bool sat) {
  if (!sat)
    return value;
  auto wide = widen(value);
  return finish<T>(wide >= 1 ? 1.0 : wide > 0 ? wide : 0.0, RN);
}

//===----------------------------------------------------------------------===//
// Rounding to odd
//===----------------------------------------------------------------------===//

/// `value` + `error` is the true result, whose nearest double `value` is.
inline f64 toOdd(f64 value, f64 error) {
  u64 bits = bitsOf(value);
  if (!error || !__builtin_isfinite(value) || (bits & 1))
    return value;
  return as<f64>((error > 0) == (value > 0) ? bits + 1 : bits - 1);
}

/// Opposite numbers give -0 where the result is rounded down.
inline f64 sumToOdd(f64 a, f64 b, Round round) {
  f64 sum = a + b, part = sum - a;
  if (sum == 0 && round == RM && __builtin_signbit(a) != __builtin_signbit(b))
    return -0.0;
  return toOdd(sum, (a - (sum - part)) + (b - part));
}

inline f64 quotientToOdd(f64 a, f64 b) {
  f64 quotient = a / b;
  if (!__builtin_isfinite(quotient) || !b || !__builtin_isfinite(b))
    return quotient;
  f64 rest = __builtin_fma(-quotient, b, a);
  return toOdd(quotient, b > 0 ? rest : -rest);
}

inline f64 rootToOdd(f64 a) {
  f64 root = __builtin_sqrt(a);
  return a > 0 && __builtin_isfinite(a) ? toOdd(root, __builtin_fma(-root, root, a)) : root;
}

inline f64 integerToOdd(s128 value) {
  f64 nearest = static_cast<f64>(value);
  return toOdd(nearest, static_cast<f64>(value - static_cast<s128>(nearest)));
}

/// Computes in double in another rounding of the machine's.
template <class Operation> inline f64 inRounding(Round round, Operation operation) {
  fesetround(round == RZ ? FE_TOWARDZERO : round == RM ? FE_DOWNWARD : FE_UPWARD);
  f64 result = operation();
  fesetround(FE_TONEAREST);
  return result;
}

//===----------------------------------------------------------------------===//
// cvt
//===----------------------------------------------------------------------===//

template <class T> inline constexpr int widthOf = static_cast<int>(sizeof(T)) * 8;
template <class T> inline constexpr s128 highest = ((s128(1) << (widthOf<T> - isSigned<T>)) - 1);
template <class T>
inline constexpr s128 lowest = isSigned<T> ? -(s128(1) << (widthOf<T> - 1)) : s128(0);

inline f64 toIntegral(f64 value, Round round) {
  switch (round) {
  case RN:
    return __builtin_rint(value);
  case RNA:
    return __builtin_round(value);
  case RZ:
    return __builtin_trunc(value);
  case RM:
    return __builtin_floor(value);
  default:
    return __builtin_ceil(value);
  }
}

template <class To, class From> inline To floatToInteger(From value, Round round) {
  if (isNan(value))
    return isSame<From, f64> || sizeof(To) == 8 ? static_cast<To>(u64(1) << (widthOf<To> - 1)) : 0;
  f64 rounded = toIntegral(widen(value), round);
  if (rounded >= static_cast<f64>(highest<To>))
    return static_cast<To>(highest<To>);
  if (rounded <= static_cast<f64>(lowest<To>))
    return static_cast<To>(lowest<To>);
  return static_cast<To>(rounded);
}

template <class To, class From> inline To integerToFloat(From value, Round round) {
  if constexpr (isSame<To, f64>) {
    if (round == RN)
      return static_cast<f64>(value);
    volatile From given = value;
    return inRounding(round, [&] {
      volatile f64 result = static_cast<f64>(given);
      return result;
    });
  } else {
    return narrow<To>(integerToOdd(value), round);
  }
}

/// `integral`: a float is rounded to an integer, in its format.
template <class To, class From>
inline To convert(From value, Round round, bool integral, bool ftz, bool sat) {
  if constexpr (isFloat<From>)
    value = flush(value, ftz);
  if constexpr (!isFloat<To> && !isFloat<From>) {
    s128 wide = value;
    if (sat)
      wide = wide > highest<To> ? highest<To> : wide < lowest<To> ? lowest<To> : wide;
    return static_cast<To>(wide);
  } else if constexpr (!isFloat<To>) {
    return floatToInteger<To>(value, round);
  } else if constexpr (!isFloat<From>) {
    return saturate(integerToFloat<To>(value, round), sat);
  } else {
    f64 wide = widen(value);
    if (integral)
      wide = toIntegral(wide, round);
    return flush(saturate(finish<To>(wide, integral ? RN : round), sat), ftz);
  }
}

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXNUMBER_H
