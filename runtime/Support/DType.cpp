//===- DType.cpp - element types: sizes, names, conversions ---------------===//

#include "runtime/Support/DType.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace weft::runtime {

int64_t getElementSize(DType dtype) {
  switch (dtype) {
  case program::I1:
  case program::I8:
  case program::U8:
    return 1;
  case program::I16:
  case program::U16:
  case program::F16:
  case program::BF16:
    return 2;
  case program::I32:
  case program::U32:
  case program::F32:
    return 4;
  case program::I64:
  case program::U64:
  case program::F64:
    return 8;
  default:
    return 0;
  }
}

std::string_view getName(DType dtype) {
  switch (dtype) {
  case program::I1:
    return "i1";
  case program::I8:
    return "i8";
  case program::I16:
    return "i16";
  case program::I32:
    return "i32";
  case program::I64:
    return "i64";
  case program::U8:
    return "u8";
  case program::U16:
    return "u16";
  case program::U32:
    return "u32";
  case program::U64:
    return "u64";
  case program::F16:
    return "f16";
  case program::BF16:
    return "bf16";
  case program::F32:
    return "f32";
  case program::F64:
    return "f64";
  default:
    return "unknown";
  }
}

bool isFloat(DType dtype) {
  return dtype == program::F16 || dtype == program::BF16 || dtype == program::F32 ||
         dtype == program::F64;
}

float halfToFloat(uint16_t bits) {
  _Float16 value;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<float>(value);
}

uint16_t floatToHalf(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

namespace {
// Loops over these become vectors: they have no branches and call no library.

/// halfToFloat(): the bits moved into place, then scaled by 2^112, which is exact and brings
/// subnormal numbers right.
float widenHalf(uint16_t bits) {
  constexpr float scale = 0x1p112f;
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13, sign = uint32_t(bits & 0x8000) << 16;
  uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * scale);
  uint32_t special = magnitude | 0x7f800000; // infinity and NaN keep their fraction
  return std::bit_cast<float>(sign | (magnitude >= 0x0f800000 ? special : finite));
}

/// floatToHalf(): bits that go are rounded by an addition that carries into those that stay; for
/// subnormal numbers by the addition of a float whose last place is theirs.
uint16_t narrowHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  uint32_t finite = magnitude < 0x38800000 ? small : normal;
  uint32_t infinite = std::min(finite, uint32_t(0x7c00));
  uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  return static_cast<uint16_t>(sign | (magnitude > 0x7f800000 ? nan : infinite));
}

uint16_t narrowBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}
} // namespace

uint16_t floatToBfloat(float value) { return narrowBfloat(value); }

#if defined(__x86_64__)
#define WEFT_FOR_EACH_CPU                                                                          \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
// Most processors convert halves by instructions.
#define WEFT_WITH_HALVES __attribute__((target("avx2,f16c")))
static bool hasHalves() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"); }
#else
#define WEFT_FOR_EACH_CPU
#define WEFT_WITH_HALVES
static bool hasHalves() { return false; }
#endif

WEFT_WITH_HALVES static void widenByInstructions(const _Float16 *from, float *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i];
}

WEFT_WITH_HALVES static void narrowByInstructions(const float *from, _Float16 *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<_Float16>(from[i]);
}

WEFT_FOR_EACH_CPU static void widenHalves(const uint16_t *from, float *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = widenHalf(from[i]);
}

WEFT_FOR_EACH_CPU static void narrowHalves(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = narrowHalf(from[i]);
}

WEFT_FOR_EACH_CPU static void widenBfloats(const uint16_t *from, float *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = std::bit_cast<float>(uint32_t(from[i]) << 16);
}

WEFT_FOR_EACH_CPU static void narrowBfloats(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = narrowBfloat(from[i]);
}

void widen(DType dtype, const void *from, float *to, int64_t count) {
  if (dtype == program::F32)
    std::memcpy(to, from, count * sizeof(float));
  else if (dtype == program::BF16)
    widenBfloats(static_cast<const uint16_t *>(from), to, count);
  else if (hasHalves())
    widenByInstructions(static_cast<const _Float16 *>(from), to, count);
  else
    widenHalves(static_cast<const uint16_t *>(from), to, count);
}

void narrow(DType dtype, const float *from, void *to, int64_t count) {
  if (dtype == program::F32)
    std::memcpy(to, from, count * sizeof(float));
  else if (dtype == program::BF16)
    narrowBfloats(from, static_cast<uint16_t *>(to), count);
  else if (hasHalves())
    narrowByInstructions(from, static_cast<_Float16 *>(to), count);
  else
    narrowHalves(from, static_cast<uint16_t *>(to), count);
}

namespace {
template <typename T> double at(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte *>(data) + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}
} // namespace

double readAsDouble(DType dtype, const void *data, int64_t index) {
  switch (dtype) {
  case program::I8:
    return at<int8_t>(data, index);
  case program::I16:
    return at<int16_t>(data, index);
  case program::I32:
    return at<int32_t>(data, index);
  case program::I64:
    return at<int64_t>(data, index);
  case program::I1:
  case program::U8:
    return at<uint8_t>(data, index);
  case program::U16:
    return at<uint16_t>(data, index);
  case program::U32:
    return at<uint32_t>(data, index);
  case program::U64:
    return at<uint64_t>(data, index);
  case program::F16:
    return halfToFloat(static_cast<uint16_t>(at<uint16_t>(data, index)));
  case program::BF16:
    return bfloatToFloat(static_cast<uint16_t>(at<uint16_t>(data, index)));
  case program::F32:
    return at<float>(data, index);
  case program::F64:
    return at<double>(data, index);
  default:
    return std::nan("");
  }
}

} // namespace weft::runtime
