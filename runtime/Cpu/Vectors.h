//===- Vectors.h - vectors of floats, and whom they are for -----*- C++ -*-===//
//
// One vector of AVX-512; code for AVX2 makes two of it. Functions take vectors by reference: by
// value they would be passed differently on each processor.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_VECTORS_H
#define WEFT_RUNTIME_CPU_VECTORS_H

#include <cstdint>

#define WEFT_AVX2 __attribute__((target("arch=x86-64-v3")))
// Clang makes two of 256 bits of a vector of 512 unless it is told otherwise.
#ifdef __clang__
#define WEFT_AVX512 __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))
#else
#define WEFT_AVX512 __attribute__((target("arch=x86-64-v4")))
#endif

namespace weft::runtime {

using Vector __attribute__((aligned(4), may_alias)) = float __attribute__((vector_size(64)));
constexpr int64_t lanes = sizeof(Vector) / sizeof(float);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_VECTORS_H
