//===- ConvDirect.h - convolutions by oneDNN's own kernels ------*- C++ -*-===//
//
// Kernels of oneDNN for whole convolutions of f32 read each element of a window where it lies in
// the input: nothing is gathered. Images whose channels are last they take as they lie. Else they
// want channels in blocks, which operands are reordered to and results from, in memory of the
// threads:
//
//   input of an image   →  blocks      kernel  →  blocks       (once an execution)
//   blocks · blocks     →  blocks      →  output of the image
//
// Work is cut by images and then by rows, or by output channels, whatever the number of threads is,
// so that results do not depend on it. Rows of which a core's cache holds the output leave it there
// for what follows.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_CONVDIRECT_H
#define WEFT_RUNTIME_CPU_CONVDIRECT_H

#include "runtime/Cpu/Conv.h"
#include "runtime/Cpu/Epilogue.h"

#include <memory>

namespace weft::runtime {

/// One geometry, prepared. Operands are row-major, but where the convolution says else.
class DirectConv {
public:
  virtual ~DirectConv() = default;
  /// The convolution: `first` is its input, `second` its kernel. Or the gradient of its kernel:
  /// `second` is the gradient of its output.
  virtual void execute(const float *first, const float *second, float *result,
                       ThreadPool &pool) = 0;
};

/// Null where oneDNN has no such kernel for this machine, or products of gathered windows
/// (Conv.cpp) are as fast.
/// An epilogue (or null) is run behind each piece of the convolution.
std::unique_ptr<DirectConv> makeDirectConv(const Convolution &conv, const Epilogue *epilogue);
std::unique_ptr<DirectConv> makeDirectKernelGradient(const Convolution &conv);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_CONVDIRECT_H
