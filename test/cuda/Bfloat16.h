//===- Bfloat16.h - an element of bf16 --------------------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_BFLOAT16_H
#define WEFT_TEST_CUDA_BFLOAT16_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace weft::test {

/// The upper half of a float, rounded to nearest even. The compiler's own type needs a function
/// that the oldest supported libgcc lacks.
struct Bfloat16 {
  uint16_t bits;

  Bfloat16() = default;
  explicit Bfloat16(float value) {
    auto whole = std::bit_cast<uint32_t>(value);
    bits = std::isnan(value) ? whole >> 16 | 0x40 : (whole + 0x7fff + (whole >> 16 & 1)) >> 16;
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

} // namespace weft::test

#endif // WEFT_TEST_CUDA_BFLOAT16_H
