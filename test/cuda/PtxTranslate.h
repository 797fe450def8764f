//===- PtxTranslate.h - PTX to C++ ------------------------------*- C++ -*-===//
//
// Each kernel becomes a function of a thread and its parameters, each .func one of its arguments,
// each register a variable, each instruction a line. For
//
//   add.s32 %r3, %r1, 4;            set(R_r3, add(as<s32>(R_r1), as<s32>(4ull)));
//   @%p1 st.global.b32 [%rd1], %r3; if (R_p1) { store(at<Space::Global>(t, u64(R_rd1), 4),
//   as<u32>(R_r3)); }
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXTRANSLATE_H
#define WEFT_TEST_CUDA_PTXTRANSLATE_H

#include "test/cuda/PtxModule.h"

namespace weft::test::ptx {

struct Part {
  uint64_t offset = 0, bytes = 0;
};

struct KernelInfo {
  std::string name, symbol; ///< in PTX, and of the C++ function
  std::vector<Part> params;
  uint64_t paramBytes = 0;
  uint64_t sharedBytes = 0; ///< without dynamic
  uint64_t localBytes = 0;
  uint64_t maxThreads = 0; ///< 0: any
  bool waits = false;      ///< for other threads, so that each needs a stack
};

/// Where an initial value has an address.
struct Relocation {
  uint64_t offset = 0, addend = 0;
  std::string symbol;
  uint64_t bytes = 8, shift = 0; ///< the bytes written, and which bits of the address come first
};

/// In device memory. The n-th is variables[n] of a Block.
struct VariableInfo {
  std::string name;
  uint64_t bytes = 0, align = 1;
  std::vector<uint8_t> values; ///< the rest is 0
  std::vector<Relocation> relocations;
};

struct Translation {
  std::string source;
  std::vector<KernelInfo> kernels;
  std::vector<VariableInfo> variables;
};

/// Throws PtxError with what is not understood.
Translation translate(const ModuleText &module);

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXTRANSLATE_H
