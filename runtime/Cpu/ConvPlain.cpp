//===- ConvPlain.cpp - convolutions by definition -------------------------===//

#include "runtime/Cpu/Conv.h"
#include "runtime/Support/Error.h"

namespace weft::runtime {

bool advance(std::vector<int64_t> &index, const std::vector<int64_t> &shape) {
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (++index[dim] < shape[dim])
      return true;
    index[dim] = 0;
  }
  return false;
}

namespace {

struct HalfElement {
  uint16_t bits;
  explicit HalfElement(double value) : bits(floatToHalf(static_cast<float>(value))) {}
  explicit operator double() const { return halfToFloat(bits); }
};
struct BfloatElement {
  uint16_t bits;
  explicit BfloatElement(double value) : bits(floatToBfloat(static_cast<float>(value))) {}
  explicit operator double() const { return bfloatToFloat(bits); }
};

/// One element of the output, at `at` of its plane: `input` holds the group's channels, `kernel`
/// the output channel's.
template <typename T, typename Sum>
T convolveAt(const Convolution &conv, const T *input, const T *kernel,
             const std::vector<int64_t> &at) {
  Sum sum(0);
  std::vector<int64_t> taps(conv.kernel.begin() + 1, conv.kernel.end()); // [channel, window…]
  std::vector<int64_t> tap(taps.size(), 0);
  do {
    int64_t offset = tap[0];
    bool inside = true;
    for (size_t dim = 0; dim < at.size(); ++dim) {
      int64_t x = getInputCoordinate(conv, dim, at[dim], tap[dim + 1]);
      inside &= x >= 0 && x < conv.input[dim + 2];
      offset = offset * conv.input[dim + 2] + x;
    }
    if (inside)
      sum += Sum(input[offset]) * Sum(*kernel);
    ++kernel;
  } while (advance(tap, taps));
  return T(sum);
}

int64_t multiplyAll(const std::vector<int64_t> &extents, size_t from) {
  int64_t product = 1;
  for (size_t i = from; i < extents.size(); ++i)
    product *= extents[i];
  return product;
}

template <typename T, typename Sum>
void convolve(const Convolution &conv, const std::byte *inputBytes, const std::byte *kernelBytes,
              std::byte *outputBytes, int64_t begin, int64_t end) {
  auto *input = reinterpret_cast<const T *>(inputBytes);
  auto *kernel = reinterpret_cast<const T *>(kernelBytes);
  auto *output = reinterpret_cast<T *>(outputBytes);
  int64_t channels = conv.output[1], perGroup = channels / conv.groups;
  int64_t taps = multiplyAll(conv.kernel, 1), plane = multiplyAll(conv.output, 2);
  std::vector<int64_t> spatial(conv.output.begin() + 2, conv.output.end());
  for (int64_t number = begin; number < end; ++number) {
    int64_t image = number / channels, channel = number % channels;
    int64_t first = image * conv.input[1] + channel / perGroup * conv.kernel[1];
    const T *from = input + first * multiplyAll(conv.input, 2);
    std::vector<int64_t> at(spatial.size(), 0);
    T *to = output + number * plane;
    for (int64_t i = 0; i < plane; ++i, advance(at, spatial))
      *to++ = taps == 0 ? T(Sum(0)) : convolveAt<T, Sum>(conv, from, kernel + channel * taps, at);
  }
}

/// One element of the kernel's gradient, `tap` of its window: `input` holds its channel of the
/// first image, `gradient` its output's.
template <typename T, typename Sum>
T sumProductsAt(const Convolution &conv, const T *input, const T *gradient,
                const std::vector<int64_t> &tap) {
  std::vector<int64_t> spatial(conv.output.begin() + 2, conv.output.end());
  int64_t image = multiplyAll(conv.input, 1), plane = multiplyAll(conv.output, 2);
  Sum sum(0);
  for (int64_t n = 0; n < conv.input[0]; ++n, input += image, gradient += conv.output[1] * plane) {
    std::vector<int64_t> at(spatial.size(), 0);
    for (int64_t i = 0; i < plane; ++i, advance(at, spatial)) {
      int64_t offset = 0;
      bool inside = true;
      for (size_t dim = 0; dim < at.size(); ++dim) {
        int64_t x = getInputCoordinate(conv, dim, at[dim], tap[dim]);
        inside &= x >= 0 && x < conv.input[dim + 2];
        offset = offset * conv.input[dim + 2] + x;
      }
      if (inside)
        sum += Sum(input[offset]) * Sum(gradient[i]);
    }
  }
  return T(sum);
}

template <typename T, typename Sum>
void sumKernelGradient(const Convolution &conv, const std::byte *inputBytes,
                       const std::byte *gradientBytes, std::byte *resultBytes, int64_t begin,
                       int64_t end) {
  auto *input = reinterpret_cast<const T *>(inputBytes);
  auto *gradient = reinterpret_cast<const T *>(gradientBytes);
  auto *result = reinterpret_cast<T *>(resultBytes);
  int64_t channels = conv.kernel[1], perGroup = conv.kernel[0] / conv.groups;
  std::vector<int64_t> window(conv.kernel.begin() + 2, conv.kernel.end());
  int64_t taps = multiplyAll(conv.kernel, 2);
  for (int64_t output = begin; output < end; ++output)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const T *from = input + (output / perGroup * channels + channel) * multiplyAll(conv.input, 2);
      const T *slopes = gradient + output * multiplyAll(conv.output, 2);
      std::vector<int64_t> tap(window.size(), 0);
      T *to = result + (output * channels + channel) * taps;
      for (int64_t i = 0; i < taps; ++i, advance(tap, window))
        to[i] = sumProductsAt<T, Sum>(conv, from, slopes, tap);
    }
}

} // namespace

void convolvePlainly(const Convolution &conv, const std::byte *input, const std::byte *kernel,
                     std::byte *output, int64_t begin, int64_t end) {
  switch (conv.dtype) {
  case program::F16:
    return convolve<HalfElement, double>(conv, input, kernel, output, begin, end);
  case program::BF16:
    return convolve<BfloatElement, double>(conv, input, kernel, output, begin, end);
  case program::F32:
    return convolve<float, double>(conv, input, kernel, output, begin, end);
  case program::F64:
    return convolve<double, double>(conv, input, kernel, output, begin, end);
  case program::I8:
    return convolve<int8_t, uint64_t>(conv, input, kernel, output, begin, end);
  case program::U8:
    return convolve<uint8_t, uint64_t>(conv, input, kernel, output, begin, end);
  case program::I32:
    return convolve<int32_t, uint64_t>(conv, input, kernel, output, begin, end);
  case program::I64:
    return convolve<int64_t, uint64_t>(conv, input, kernel, output, begin, end);
  default:
    throwBadInput("cannot convolve elements of {}", getName(conv.dtype));
  }
}

void sumKernelGradientPlainly(const Convolution &conv, const std::byte *input,
                              const std::byte *gradient, std::byte *result, int64_t begin,
                              int64_t end) {
  switch (conv.dtype) {
  case program::F16:
    return sumKernelGradient<HalfElement, double>(conv, input, gradient, result, begin, end);
  case program::BF16:
    return sumKernelGradient<BfloatElement, double>(conv, input, gradient, result, begin, end);
  case program::F32:
    return sumKernelGradient<float, double>(conv, input, gradient, result, begin, end);
  case program::F64:
    return sumKernelGradient<double, double>(conv, input, gradient, result, begin, end);
  default:
    throwBadInput("a kernel of {} has no gradient", getName(conv.dtype));
  }
}

} // namespace weft::runtime
