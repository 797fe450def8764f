//===- StridedCopy.h - copies and fills by kernels --------------*- C++ -*-===//
//
// What copies and fills are made of, and what packs operands that a library does not take as they
// lie. Elements are moved by the kernels of DeviceFunctions.cpp, in words of up to 16 bytes where
// rows allow, along the output's innermost dimension; runs of bytes by the driver.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_STRIDEDCOPY_H
#define WEFT_RUNTIME_CUDA_STRIDEDCOPY_H

#include "runtime/Cuda/CudaContext.h"
#include "runtime/Cuda/DeviceFunctions.h"
#include "runtime/Device/CopyLoops.h"

#include <string>

namespace weft::runtime {

/// Loops as launches: merged dimensions as far as one launch takes them, the outer ones done by a
/// launch for each of their elements.
class StridedLoops {
public:
  /// `isFill`: the input is not looked at.
  StridedLoops(CopyLoops loops, bool isFill);

  const CopyLoops &getLoops() const { return loops; }

  /// Enqueues the launches of a copy.
  void copy(CudaContext &context, CUdeviceptr from, CUdeviceptr to, CudaStream &stream) const;
  /// Enqueues those of a fill.
  void fill(CudaContext &context, FillWord value, CUdeviceptr to, CudaStream &stream) const;

private:
  /// Calls `body(loops, fromOffset, toOffset)` for each launch, offsets in bytes.
  template <typename Body> void forEachLaunch(int64_t word, Body body) const;
  int64_t chooseWord(CUdeviceptr addresses) const;
  KernelLoops makeKernelLoops(int64_t word) const;

  CopyLoops loops;
  size_t numOuter = 0;    ///< dimensions that no launch takes
  int64_t widestWord = 1; ///< by strides and extents
};

/// A copy between operands of one shape and element type that share no byte.
class StridedCopy {
public:
  StridedCopy(const View &input, const View &output) : StridedCopy(CopyLoops(input, output)) {}
  explicit StridedCopy(CopyLoops loops) : strided(std::move(loops), false) {}

  /// Enqueues it; the addresses are those of the first elements.
  void enqueue(CudaContext &context, CUdeviceptr from, CUdeviceptr to, CudaStream &stream) const;

  const CopyLoops &getLoops() const { return strided.getLoops(); }

private:
  StridedLoops strided;
};

/// A fill of an operand with one value.
class StridedFill {
public:
  /// `value` is the bytes of one element, of 1, 2, 4 or 8.
  StridedFill(const View &output, const std::string &value);

  void enqueue(CudaContext &context, CUdeviceptr to, CudaStream &stream) const;

private:
  bool fillRun(CUdeviceptr to, CUstream stream) const;

  StridedLoops strided;
  FillWord word; ///< the value, repeated
};

/// Enqueues a kernel of DeviceFunctions.cpp, whose threads go through `count` elements.
void enqueueOwnFunction(CudaContext &context, const std::string &name, int64_t count,
                        void **arguments, CudaStream &stream);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_STRIDEDCOPY_H
