//===- Conv.h - what ways of convolving share -------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_CONV_H
#define WEFT_RUNTIME_CPU_CONV_H

#include "runtime/Support/DType.h"

#include <cstddef>
#include <vector>

namespace weft::runtime {

/// Input [n, c, spatial…], kernel [o, c/groups, window…], output [n, o, spatial'…], of one
/// element type and row-major where nothing else is said. `strides`, `low`, `high` and `dilations`
/// have one entry a spatial dimension.
struct Convolution {
  DType dtype;
  std::vector<int64_t> input, kernel, output;
  std::vector<int64_t> strides, low, high, dilations;
  int64_t groups;
  bool inputLast = false, outputLast = false; ///< lie as [n, spatial…, channels]: for DirectConv
  bool isKernelConstant = false;              ///< what it is reordered to may be kept
};

/// Where output coordinate `at` sees the input through `tap`, in spatial dimension `dim`; outside
/// [0, extent) is padding.
inline int64_t getInputCoordinate(const Convolution &conv, size_t dim, int64_t at, int64_t tap) {
  return at * conv.strides[dim] + tap * conv.dilations[dim] - conv.low[dim];
}

/// Steps `index` row-major through `shape`; back to the start and false at the end.
bool advance(std::vector<int64_t> &index, const std::vector<int64_t> &shape);

/// Computes the planes [begin, end) of the output, planes being its batch elements times channels,
/// by definition: sums of floats in double, of integers modulo 2^64.
void convolvePlainly(const Convolution &conv, const std::byte *input, const std::byte *kernel,
                     std::byte *output, int64_t begin, int64_t end);

/// Computes the kernel's gradient for the output channels [begin, end), likewise.
void sumKernelGradientPlainly(const Convolution &conv, const std::byte *input,
                              const std::byte *gradient, std::byte *result, int64_t begin,
                              int64_t end);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_CONV_H
