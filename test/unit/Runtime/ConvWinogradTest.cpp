//===- ConvWinogradTest.cpp - Winograd's algorithm against plain sums -----===//

#include "runtime/Cpu/ConvWinograd.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace weft::runtime;
namespace program = weft::program;

namespace {

using Index = std::vector<int64_t>;

/// A convolution by 3 x 3 windows of images whose channels are last.
Convolution describe(const Index &input, int64_t outputs, const Index &low, const Index &high) {
  Index output{input[0], outputs};
  for (size_t dim = 0; dim < 2; ++dim)
    output.push_back(input[dim + 2] + low[dim] + high[dim] - 2);
  Convolution conv{program::F32, input, {outputs, input[1], 3, 3}, output, {1, 1}, low, high,
                   {1, 1},       1};
  conv.inputLast = conv.outputLast = conv.isKernelConstant = true;
  return conv;
}

std::vector<float> makeNormal(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

/// [n, c, y, x] of what lies as [n, y, x, c], wide.
std::vector<double> makeRowMajor(const std::vector<float> &last, const Index &shape) {
  std::vector<double> rowMajor(last.size());
  int64_t positions = shape[2] * shape[3];
  for (int64_t i = 0; i < int64_t(last.size()); ++i) {
    int64_t image = i / (positions * shape[1]), position = i / shape[1] % positions;
    rowMajor[(image * shape[1] + i % shape[1]) * positions + position] = last[i];
  }
  return rowMajor;
}

/// The largest difference from a plain sum in double, over the largest magnitude.
double getError(Convolution conv, const std::vector<float> &input, const std::vector<float> &kernel,
                const std::vector<float> &output) {
  std::vector<double> in = makeRowMajor(input, conv.input), out = makeRowMajor(output, conv.output),
                      taps(kernel.begin(), kernel.end()), sums(out.size());
  conv.dtype = program::F64;
  auto bytes = [](auto &values) { return reinterpret_cast<std::byte *>(values.data()); };
  convolvePlainly(conv, bytes(in), bytes(taps), bytes(sums), 0, conv.output[0] * conv.output[1]);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    largest = std::max(largest, std::abs(sums[i]));
    difference = std::max(difference, std::abs(sums[i] - out[i]));
  }
  return difference / largest;
}

/// By AVX-512 or by AVX2, where the processor has it.
void checkConvolution(const Convolution &conv, bool areWide) {
  bool hasKernels = __builtin_cpu_supports("x86-64-v3") && (!areWide || hasWideVectors());
  std::vector<float> input = makeNormal(countElements(conv.input), 1),
                     kernel = makeNormal(countElements(conv.kernel), 2), results[3];
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    auto winograd = hasKernels ? makeWinogradConv(conv, nullptr, areWide) : nullptr;
    CHECK(bool(winograd) == hasKernels);
    if (!winograd)
      continue;
    std::vector<float> &result = results[threads - 1];
    result.assign(countElements(conv.output), NAN);
    winograd->execute(input.data(), kernel.data(), result.data(), pool);
    CHECK(getError(conv, input, kernel, result) < 8e-6);
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

} // namespace

TEST_CASE("Winograd's algorithm makes small errors, the same on any number of threads") {
  const Convolution cases[] = {
      describe({1, 64, 56, 56}, 64, {1, 1}, {1, 1}), // groups of rows of tiles
      describe({3, 16, 14, 14}, 32, {1, 1}, {1, 1}), // of images, one left over
      describe({4, 512, 7, 7}, 128, {1, 1}, {1, 1}), // of all images, and parts of the channels
      describe({1, 32, 33, 18}, 48, {2, 0}, {0, 2}), // tiles over the edges, uneven padding
      describe({2, 16, 16, 23}, 16, {0, 0}, {0, 0}),
  };
  for (bool areWide : {false, true})
    for (const Convolution &conv : cases)
      checkConvolution(conv, areWide);
}

TEST_CASE("Winograd's algorithm sees that a kernel changed, and leaves alone what does not pay") {
  Convolution conv = describe({2, 16, 24, 24}, 16, {1, 1}, {1, 1});
  conv.isKernelConstant = false;
  std::vector<float> input = makeNormal(countElements(conv.input), 1),
                     kernel = makeNormal(countElements(conv.kernel), 2),
                     result(countElements(conv.output));
  ThreadPool pool(2);
  if (auto winograd = makeWinogradConv(conv, nullptr))
    for (int step = 0; step < 2; ++step) {
      winograd->execute(input.data(), kernel.data(), result.data(), pool);
      CHECK(getError(conv, input, kernel, result) < 8e-6);
      std::reverse(kernel.begin(), kernel.end());
    }
  CHECK(!makeWinogradConv(describe({1, 16, 8, 8}, 16, {1, 1}, {1, 1}), nullptr)); // few tiles
  CHECK(!makeWinogradConv(describe({2, 24, 24, 24}, 16, {1, 1}, {1, 1}), nullptr));
  Convolution few = describe({1, 16, 24, 24}, 16, {1, 1}, {1, 1});
  few.isKernelConstant = false;
  CHECK(!makeWinogradConv(few, nullptr));
  conv.dilations = {2, 2};
  CHECK(!makeWinogradConv(conv, nullptr));
}
