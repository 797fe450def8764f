//===- InstructionCase.h - one instruction and what it computes -*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_INSTRUCTIONCASE_H
#define WEFT_TEST_CUDA_INSTRUCTIONCASE_H

#include <cstdint>
#include <vector>

namespace weft::test {

/// What numbers an instruction is tried with: integers of a width, or bits of floats.
enum class Numbers { Integers, Floats, Doubles, Halves, Bfloats };

/// The inputs are in %d1 … %d3, and their low bits in %r1 … and %h1 …; the lowest bits are in
/// %p1 … %p3. The result is in %d0, %r0, %h0 or %p0: `result` is d, r, h, p, or for a float, of
/// which one NaN is as good as another, D, R, H (f16) or B (bf16).
struct InstructionCase {
  const char *text;
  char result;
  Numbers numbers;
  uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
};

std::vector<InstructionCase> getIntegerCases();
std::vector<InstructionCase> getFloatCases();

} // namespace weft::test

#endif // WEFT_TEST_CUDA_INSTRUCTIONCASE_H
