//===- CudnnConvolution.cpp - convolutions by definition ------------------===//

#include "test/cuda/Bfloat16.h"
#include "test/cuda/CudnnDescriptors.h"

#include <cstring>

namespace weft::test::cudnn {

namespace {

/// Steps `index` row-major through `shape`; back to the start and false at the end.
bool advance(std::vector<int64_t> &index, const std::vector<int64_t> &shape) {
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (++index[dim] < shape[dim])
      return true;
    index[dim] = 0;
  }
  return false;
}

template <typename T> T &at(const Tensor &tensor, const std::vector<int64_t> &index) {
  int64_t offset = 0;
  for (size_t dim = 0; dim < index.size(); ++dim)
    offset += index[dim] * tensor.strides[dim];
  return static_cast<T *>(tensor.data)[offset];
}

/// The input's index under the element `tap` of the window at `position`; false: padding.
bool findInput(const Convolution &conv, const std::vector<int64_t> &position,
               const std::vector<int64_t> &tap, std::vector<int64_t> &index) {
  int64_t groups = conv.input.shape[1] / conv.kernel.shape[1];
  int64_t group = tap[0] / (conv.kernel.shape[0] / groups);
  index = {position[0], group * conv.kernel.shape[1] + tap[1]};
  for (size_t dim = 0; dim < conv.strides.size(); ++dim) {
    int64_t x =
        position[dim + 2] * conv.strides[dim] + tap[dim + 2] * conv.dilations[dim] - conv.low[dim];
    if (x < 0 || x >= conv.input.shape[dim + 2])
      return false;
    index.push_back(x);
  }
  return true;
}

template <typename T, typename Sum> Sum load(T value, bool asBfloat) {
  if constexpr (std::is_same_v<T, float>)
    if (asBfloat)
      return static_cast<Sum>(static_cast<float>(static_cast<Bfloat16>(value)));
  return static_cast<Sum>(value);
}

/// Sums over the window for each position, or over positions for each element of the window.
template <typename T, typename Sum> void compute(const Convolution &conv, bool asBfloat) {
  const Tensor &result = conv.kernelGradient ? conv.kernel : conv.output;
  const Tensor &other = conv.kernelGradient ? conv.output : conv.kernel;
  std::vector<int64_t> to(result.shape.size(), 0), index;
  do {
    std::vector<int64_t> summed = other.shape;
    summed[conv.kernelGradient ? 1 : 0] = 1; // the output channel is that of the result
    std::vector<int64_t> by(summed.size(), 0);
    Sum sum(0);
    do {
      std::vector<int64_t> from = by;
      from[conv.kernelGradient ? 1 : 0] = conv.kernelGradient ? to[0] : to[1];
      bool inside =
          conv.kernelGradient ? findInput(conv, from, to, index) : findInput(conv, to, from, index);
      if (inside)
        sum += load<T, Sum>(at<T>(conv.input, index), asBfloat) *
               load<T, Sum>(at<T>(other, from), asBfloat);
    } while (advance(by, summed));
    at<T>(result, to) = static_cast<T>(sum);
  } while (advance(to, result.shape));
}

} // namespace

void compute(const Convolution &convolution, bool asBfloat) {
  switch (convolution.input.dtype) {
  case CUDNN_DATA_HALF:
    return compute<_Float16, float>(convolution, asBfloat);
  case CUDNN_DATA_BFLOAT16:
    return compute<Bfloat16, float>(convolution, asBfloat);
  case CUDNN_DATA_FLOAT:
    return compute<float, float>(convolution, asBfloat);
  default:
    return compute<double, double>(convolution, asBfloat);
  }
}

} // namespace weft::test::cudnn
