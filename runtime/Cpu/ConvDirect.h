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
#include "runtime/Cpu/Reorder.h"

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

constexpr int64_t blockChannels = 16; ///< of the widest blocks
constexpr int64_t wantedTasks = 8;    ///< work for as many threads

/// The number of parts, of whole blocks and of `least` channels or more each, that channels are cut
/// into: as many as are wanted, or about half.
int64_t cutChannels(int64_t channels, int64_t wanted, int64_t least);

/// A way to convolve, made; null where the library has no fast kernels for it.
template <typename Way, typename... Given>
std::unique_ptr<DirectConv> makeFast(const Convolution &conv, Given... given) {
  limitLibraryThreads(); // kernels are made for the number of threads that this one may use
  try {
    auto way = std::make_unique<Way>(conv, given...);
    if (way->isFast())
      return way;
  } catch (const dnnl::error &) {
    // There is none.
  }
  return nullptr;
}

/// Null where oneDNN has no such kernel for this machine, or products of gathered windows
/// (Conv.cpp) are as fast.
/// An epilogue (or null) is run behind each piece of the convolution.
std::unique_ptr<DirectConv> makeDirectConv(const Convolution &conv, const Epilogue *epilogue);
std::unique_ptr<DirectConv> makeDirectKernelGradient(const Convolution &conv);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_CONVDIRECT_H
