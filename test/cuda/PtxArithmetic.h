//===- PtxArithmetic.h - what PTX instructions compute ----------*- C++ -*-===//
//
// Read by translated kernels. One function an instruction, named like it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXARITHMETIC_H
#define WEFT_TEST_CUDA_PTXARITHMETIC_H

#include "test/cuda/PtxNumber.h"

namespace weft::test::ptx {

//===----------------------------------------------------------------------===//
// Integers: computed without sign, where it makes no difference, as overflow is defined
//===----------------------------------------------------------------------===//

template <class T> inline T add(T a, T b) { return static_cast<T>(u64(a) + u64(b)); }
template <class T> inline T sub(T a, T b) { return static_cast<T>(u64(a) - u64(b)); }
template <class T> inline T mulLo(T a, T b) { return static_cast<T>(u64(a) * u64(b)); }
template <class T> inline T mulHi(T a, T b) {
  if constexpr (isSigned<T>)
    return static_cast<T>((s128(a) * s128(b)) >> widthOf<T>);
  else
    return static_cast<T>((u128(a) * u128(b)) >> widthOf<T>);
}
/// W is the type of twice the width.
template <class W, class T> inline W mulWide(T a, T b) { return static_cast<W>(s128(a) * s128(b)); }

inline s32 clampToS32(s64 value) { return convert<s32>(value, RN, false, false, true); }
inline s32 addSat(s32 a, s32 b) { return clampToS32(s64(a) + b); }
inline s32 subSat(s32 a, s32 b) { return clampToS32(s64(a) - b); }
inline s32 madHiSat(s32 a, s32 b, s32 c) { return clampToS32(s64(mulHi(a, b)) + c); }

/// A division by 0 gives all ones, as the hardware does.
template <class T> inline T div(T a, T b) {
  return b == 0                      ? static_cast<T>(-1)
         : isSigned<T> && b == T(-1) ? sub<T>(0, a)
                                     : static_cast<T>(a / b);
}
template <class T> inline T rem(T a, T b) {
  return b == 0 ? a : isSigned<T> && b == T(-1) ? T(0) : static_cast<T>(a % b);
}
template <class T> inline T min(T a, T b) { return a < b ? a : b; }
template <class T> inline T max(T a, T b) { return a > b ? a : b; }
template <class T> inline T abs(T a) { return a < 0 ? sub<T>(0, a) : a; }
template <class T> inline T neg(T a) { return sub<T>(0, a); }
template <class T> inline T sad(T a, T b, T c) { return add<T>(c, a < b ? sub(b, a) : sub(a, b)); }

/// With the carry of add.cc and its like, which a subtraction's borrow is, too.
template <class T> inline T addCarry(T a, T b, u32 in, u32 &carry) {
  u128 sum = u128(a) + b + in;
  carry = static_cast<u32>(sum >> widthOf<T>);
  return static_cast<T>(sum);
}
template <class T> inline T subBorrow(T a, T b, u32 in, u32 &borrow) {
  borrow = u128(a) < u128(b) + in;
  return static_cast<T>(a - b - in);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <class T> inline T shl(T a, u32 by) {
  return by < widthOf<T> ? static_cast<T>(u64(a) << by) : 0;
}
template <class T> inline T shr(T a, u32 by) {
  return static_cast<T>(by < widthOf<T> ? a >> by : isSigned<T> && a < 0 ? -1 : 0);
}
inline u32 shfLeft(u32 low, u32 high, u32 by) {
  return by >= 32 ? low : u32((u64(high) << 32 | low) >> (32 - by));
}
inline u32 shfRight(u32 low, u32 high, u32 by) {
  return by >= 32 ? high : u32((u64(high) << 32 | low) >> by);
}

template <class T> inline u32 popc(T a) { return __builtin_popcountll(a); }
template <class T> inline u32 clz(T a) {
  return a ? __builtin_clzll(a) - (64 - widthOf<T>) : widthOf<T>;
}
template <class T> inline T brev(T a) {
  return static_cast<T>(__builtin_bitreverse64(a) >> (64 - widthOf<T>));
}
template <class T> inline T cnot(T a) { return a == 0; }

/// Of the highest bit that differs from the sign; all ones: none.
template <class T> inline u32 bfind(T a, bool shiftAmount) {
  u64 bits = static_cast<u64>(isSigned<T> && a < 0 ? ~a : a);
  if (!bits)
    return ~0u;
  u32 position = 63 - __builtin_clzll(bits);
  return shiftAmount ? widthOf<T> - 1 - position : position;
}

template <class T> inline T bfe(T a, u32 position, u32 length) {
  position &= 255;
  length &= 255;
  constexpr u32 width = widthOf<T>;
  if (!length)
    return 0;
  u32 signAt = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
  bool sign = isSigned<T> && (a >> signAt & 1);
  u64 bits = position < width ? (u64(a) & (~0ull >> (64 - width))) >> position : 0;
  u32 taken = position >= width ? 0 : min(length, width - position);
  u64 mask = taken >= 64 ? ~0ull : (1ull << taken) - 1;
  return static_cast<T>((bits & mask) | (sign ? ~mask : 0));
}

template <class T> inline T bfi(T a, T b, u32 position, u32 length) {
  position &= 255;
  length &= 255;
  if (position >= widthOf<T> || !length)
    return b;
  u64 mask = (length >= 64 ? ~0ull : (1ull << length) - 1) << position;
  return static_cast<T>((u64(b) & ~mask) | ((u64(a) << position) & mask));
}

inline u32 bmsk(u32 position, u32 width, bool wrap) {
  u64 ones = (1ull << (wrap ? width & 31 : min(width, 32u))) - 1;
  return wrap ? u32(ones << (position & 31)) : position < 32 ? u32(ones << position) : 0;
}
template <class T> inline T szext(T a, u32 width, bool wrap) {
  width = wrap ? width & 31 : min(width, 32u);
  return width ? bfe<T>(a, 0, width) : 0;
}

template <class T> inline T lop3(T a, T b, T c, u32 table) {
  T result = 0;
  for (u32 i = 0; i < 8; ++i)
    if (table >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}

inline u32 prmt(u32 a, u32 b, u32 selector) {
  u64 bytes = u64(b) << 32 | a;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    u32 choice = selector >> (4 * i) & 15;
    u32 byte = bytes >> (8 * (choice & 7)) & 255;
    if (choice & 8) // its sign alone
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// The selector of prmt.f4e and its like, for the low bits of `c`.
enum class Permutation { F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
inline u32 prmt(Permutation mode, u32 a, u32 b, u32 c) {
  static constexpr u32 selectors[][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
      {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
      {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
  return prmt(a, b, selectors[static_cast<int>(mode)][c & 3]);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// How an instruction rounds, and whether it flushes subnormals and clamps to [0, 1].
struct Rounding {
  Round round = RN;
  bool ftz = false, sat = false;
};

template <class T> inline T give(T value, Rounding how) {
  return saturate(flush(value, how.ftz), how.sat);
}

/// NaNs in f32 become the one that the hardware makes; in f64 they keep their bits.
template <class T> inline T one(T value) {
  if constexpr (isSame<T, f32>)
    return value != value ? as<f32>(0x7fffffffu) : value;
  else
    return value;
}

template <class T> inline T fma(T a, T b, T c, Rounding how) {
  a = flush(a, how.ftz), b = flush(b, how.ftz), c = flush(c, how.ftz);
  if constexpr (isSame<T, f64>) {
    if (how.round == RN)
      return give(__builtin_fma(a, b, c), how);
    volatile f64 x = a, y = b, z = c;
    return give(inRounding(how.round,
                           [&] {
                             volatile f64 r = __builtin_fma(x, y, z);
                             return r;
                           }),
                how);
  } else {
    if (isSame<T, f32> && how.round == RN)
      return give(as<T>(bitsOf(one(__builtin_fmaf(widen(a), widen(b), widen(c))))), how);
    f64 product = f64(widen(a)) * f64(widen(b)); // exact
    return give(finish<T>(sumToOdd(product, widen(c), how.round), how.round), how);
  }
}

template <class T> inline T fadd(T a, T b, Rounding how) {
  a = flush(a, how.ftz), b = flush(b, how.ftz);
  if constexpr (isSame<T, f64>) {
    if (how.round == RN)
      return give(a + b, how);
    volatile f64 x = a, y = b;
    return give(inRounding(how.round,
                           [&] {
                             volatile f64 r = x + y;
                             return r;
                           }),
                how);
  } else if constexpr (isSame<T, f32>) {
    if (how.round == RN)
      return give(one(a + b), how);
  }
  return give(finish<T>(sumToOdd(widen(a), widen(b), how.round), how.round), how);
}

template <class T> inline T fneg(T a) {
  return as<T>(bitsOf(a) ^ BitsOf<T>(1) << (widthOf<T> - 1));
}
template <class T> inline T fabs(T a) {
  return as<T>(bitsOf(a) & ~(BitsOf<T>(1) << (widthOf<T> - 1)));
}

/// neg and abs flush, and leave NaNs as they are.
template <class T> inline T fneg(T a, bool ftz) { return fneg(flush(a, ftz)); }
template <class T> inline T fabs(T a, bool ftz) { return fabs(flush(a, ftz)); }

template <class T> inline T fsub(T a, T b, Rounding how) {
  return fadd(a, isNan(b) ? b : fneg(b), how);
}

template <class T> inline T fmul(T a, T b, Rounding how) {
  a = flush(a, how.ftz), b = flush(b, how.ftz);
  if constexpr (isSame<T, f64>) {
    if (how.round == RN)
      return give(a * b, how);
    volatile f64 x = a, y = b;
    return give(inRounding(how.round,
                           [&] {
                             volatile f64 r = x * y;
                             return r;
                           }),
                how);
  } else if constexpr (isSame<T, f32>) {
    if (how.round == RN)
      return give(one(a * b), how);
  }
  return give(finish<T>(f64(widen(a)) * f64(widen(b)), how.round), how);
}

template <class T> inline T fdiv(T a, T b, Rounding how) {
  a = flush(a, how.ftz), b = flush(b, how.ftz);
  if constexpr (isSame<T, f64>) {
    if (how.round == RN)
      return give(a / b, how);
    volatile f64 x = a, y = b;
    return give(inRounding(how.round,
                           [&] {
                             volatile f64 r = x / y;
                             return r;
                           }),
                how);
  } else {
    if (how.round == RN)
      return give(one(a / b), how);
    return give(finish<T>(quotientToOdd(a, b), how.round), how);
  }
}

template <class T> inline T rcp(T a, Rounding how) { return fdiv(T(1), a, how); }

template <class T> inline T fsqrt(T a, Rounding how) {
  a = flush(a, how.ftz);
  if constexpr (isSame<T, f64>) {
    if (how.round == RN)
      return __builtin_sqrt(a);
    volatile f64 x = a;
    return inRounding(how.round, [&] {
      volatile f64 r = __builtin_sqrt(x);
      return r;
    });
  } else {
    return give(finish<T>(rootToOdd(a), how.round), how);
  }
}

/// Instructions that approximate give the nearest value here.
template <class T, class F> inline T approximate(F function, T a, bool ftz) {
  return flush(finish<T>(function(f64(widen(flush(a, ftz)))), RN), ftz);
}
inline f64 exp2Of(f64 a) { return __builtin_exp2(a); }
inline f64 log2Of(f64 a) { return __builtin_log2(a); }
inline f64 sinOf(f64 a) { return __builtin_sin(a); }
inline f64 cosOf(f64 a) { return __builtin_cos(a); }
inline f64 tanhOf(f64 a) { return __builtin_tanh(a); }
inline f64 rsqrtOf(f64 a) { return 1 / __builtin_sqrt(a); }

struct MinMax {
  bool max = false, nan = false, ftz = false, xorSign = false, abs = false;
};

/// -0 is less than 0.
template <class T> inline T minMax(T a, T b, MinMax how) {
  a = flush(a, how.ftz), b = flush(b, how.ftz);
  auto topBit = BitsOf<T>(1) << (widthOf<T> - 1);
  auto sign = static_cast<BitsOf<T>>(how.xorSign ? (bitsOf(a) ^ bitsOf(b)) & topBit : 0);
  if (how.abs || how.xorSign)
    a = fabs(a), b = fabs(b);
  if (isNan(a) || isNan(b))
    return isNan(a) && (how.nan || isNan(b)) ? as<T>(Format<T>::nan)
           : how.nan                         ? as<T>(Format<T>::nan)
           : isNan(a)                        ? as<T>(bitsOf(b) | sign)
                                             : as<T>(bitsOf(a) | sign);
  bool less = widen(a) == widen(b) ? bitsOf(a) >> (widthOf<T> - 1) : widen(a) < widen(b);
  return as<T>(bitsOf(less != how.max ? a : b) | sign);
}

/// The sign of `a`, all else of `b`.
template <class T> inline T copysign(T a, T b) {
  auto topBit = BitsOf<T>(1) << (widthOf<T> - 1);
  return as<T>((bitsOf(a) & topBit) | (bitsOf(b) & ~topBit));
}

template <class T> inline T relu(T a) { return isNan(a) ? a : widen(a) > 0 ? a : as<T>(0); }

enum class Test { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <class T> inline bool testp(Test test, T a) {
  int kind = __builtin_fpclassify(0, 1, 2, 3, 4, a); // NaN, infinite, normal, subnormal, zero
  switch (test) {
  case Test::Finite:
    return kind > 1;
  case Test::Infinite:
    return kind == 1;
  case Test::Number:
    return kind != 0;
  case Test::NotANumber:
    return kind == 0;
  case Test::Normal:
    return kind == 2;
  case Test::Subnormal:
    return kind == 3;
  }
  return false;
}

enum class Compare { Eq, Ne, Lt, Le, Gt, Ge, Num, Nan };

template <class V> inline bool compare(Compare how, V a, V b) {
  switch (how) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  case Compare::Num:
    return true;
  case Compare::Nan:
    return false;
  }
  return false;
}

/// A comparison with NaN is `unordered`.
template <class T> inline bool compare(Compare how, T a, T b, bool unordered, bool ftz) {
  if constexpr (isFloat<T>) {
    if (isNan(a) || isNan(b))
      return unordered;
    return compare(how, widen(flush(a, ftz)), widen(flush(b, ftz)));
  } else {
    return compare<T>(how, a, b);
  }
}

/// Two narrow floats in a register: `function` of each half.
template <class T, class F> inline u32 halves(F function, u32 a, u32 b = 0, u32 c = 0) {
  T low = function(as<T>(a), as<T>(b), as<T>(c));
  T high = function(as<T>(a >> 16), as<T>(b >> 16), as<T>(c >> 16));
  return u32(bitsOf(high)) << 16 | bitsOf(low);
}

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXARITHMETIC_H
