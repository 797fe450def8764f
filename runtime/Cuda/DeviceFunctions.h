//===- DeviceFunctions.h - kernels of the device's own ----------*- C++ -*-===//
//
// What the host passes to the kernels of DeviceFunctions.cpp, by value; both sides include this.
//
//   weft_copyN(to, from, KernelLoops)   words of N bytes, N of 1, 2, 4, 8, 16
//   weft_fillN(to, FillWord, KernelLoops)
//   weft_multiplyN(KernelProduct)       integers of N bytes, N of 1, 2, 4, 8
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_DEVICEFUNCTIONS_H
#define WEFT_RUNTIME_CUDA_DEVICEFUNCTIONS_H

namespace weft::runtime {

using Int64 = long long; ///< 64 bits on both sides, where the target has no standard headers

inline constexpr int maxKernelDims = 8; ///< of a launch of a copy or a fill
inline constexpr int threadsOfBlock = 256;

/// Nested loops, the innermost last, the unused ones first with an extent of 1. Strides in words.
struct KernelLoops {
  Int64 count; ///< product of the extents
  Int64 numDims;
  Int64 extents[maxKernelDims];
  Int64 from[maxKernelDims];
  Int64 to[maxKernelDims];
};

/// 16 bytes of repeated elements.
struct alignas(16) FillWord {
  unsigned long long low, high;
};

/// c[i, m, n] = Σ_k a[i, m, k] · b[i, k, n] for i in [0, batches), added to c where `accumulate`.
/// Strides in elements.
struct KernelProduct {
  void *c;
  const void *a, *b;
  Int64 batches, rows, columns, depth;
  Int64 batchA, batchB, batchC;
  Int64 rowA, depthA, depthB, columnB, rowC, columnC;
  Int64 accumulate;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_DEVICEFUNCTIONS_H
