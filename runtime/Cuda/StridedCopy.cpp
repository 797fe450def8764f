//===- StridedCopy.cpp - copies and fills by kernels ----------------------===//

#include "runtime/Cuda/StridedCopy.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {

namespace {
constexpr int64_t widest = 16; // bytes that a thread moves at once
} // namespace

void enqueueOwnFunction(CudaContext &context, const std::string &name, int64_t count,
                        void **arguments, CudaStream &stream) {
  unsigned grid = context.getGrid((count - 1) / threadsOfBlock + 1);
  check(cuLaunchKernel(context.findOwnFunction(name), grid, 1, 1, threadsOfBlock, 1, 1, 0,
                       stream.get(), arguments, nullptr),
        "cuLaunchKernel");
}

StridedLoops::StridedLoops(CopyLoops given, bool isFill) : loops(std::move(given)) {
  size_t inner = loops.shape.size() - 1;
  numOuter = loops.shape.size() - std::min<size_t>(loops.shape.size(), maxKernelDims);
  widestWord = loops.size;
  if (loops.to[inner] != loops.size || (!isFill && loops.from[inner] != loops.size))
    return;
  auto fits = [&](int64_t word) {
    bool all = loops.shape[inner] * loops.size % word == 0;
    for (size_t dim = 0; dim < inner; ++dim)
      all &= loops.to[dim] % word == 0 && (isFill || loops.from[dim] % word == 0);
    return all;
  };
  while (widestWord < widest && fits(2 * widestWord))
    widestWord *= 2;
}

/// `addresses`: of both sides, or-ed.
int64_t StridedLoops::chooseWord(CUdeviceptr addresses) const {
  int64_t word = widestWord;
  while (word > loops.size && addresses % static_cast<uint64_t>(word) != 0)
    word /= 2;
  return word;
}

KernelLoops StridedLoops::makeKernelLoops(int64_t word) const {
  KernelLoops made = {1, static_cast<Int64>(loops.shape.size() - numOuter), {}, {}, {}};
  std::fill(std::begin(made.extents), std::end(made.extents), 1);
  size_t first = maxKernelDims - (loops.shape.size() - numOuter);
  for (size_t dim = numOuter; dim < loops.shape.size(); ++dim) {
    size_t at = first + dim - numOuter;
    bool isInner = dim + 1 == loops.shape.size();
    made.extents[at] = isInner ? loops.shape[dim] * loops.size / word : loops.shape[dim];
    // A wider word stands for elements that lie side by side, so that the next one does, too.
    int64_t unit = isInner ? loops.size : word;
    made.from[at] = loops.from[dim] / unit;
    made.to[at] = loops.to[dim] / unit;
    made.count *= made.extents[at];
  }
  return made;
}

template <typename Body> void StridedLoops::forEachLaunch(int64_t word, Body body) const {
  KernelLoops kernelLoops = makeKernelLoops(word);
  int64_t launches = 1;
  for (size_t dim = 0; dim < numOuter; ++dim)
    launches *= loops.shape[dim];
  for (int64_t launch = 0; launch < launches; ++launch) {
    int64_t rest = launch, from = 0, to = 0;
    for (size_t dim = numOuter; dim-- > 0; rest /= loops.shape[dim]) {
      from += rest % loops.shape[dim] * loops.from[dim];
      to += rest % loops.shape[dim] * loops.to[dim];
    }
    body(kernelLoops, from, to);
  }
}

void StridedLoops::copy(CudaContext &context, CUdeviceptr from, CUdeviceptr to,
                        CudaStream &stream) const {
  int64_t word = chooseWord(from | to);
  std::string name = "weft_copy" + std::to_string(word);
  forEachLaunch(word, [&](KernelLoops &kernelLoops, int64_t fromOffset, int64_t toOffset) {
    CUdeviceptr input = from + fromOffset, output = to + toOffset;
    void *arguments[] = {&output, &input, &kernelLoops};
    enqueueOwnFunction(context, name, kernelLoops.count, arguments, stream);
  });
}

void StridedLoops::fill(CudaContext &context, FillWord value, CUdeviceptr to,
                        CudaStream &stream) const {
  int64_t word = chooseWord(to);
  std::string name = "weft_fill" + std::to_string(word);
  forEachLaunch(word, [&](KernelLoops &kernelLoops, int64_t, int64_t toOffset) {
    CUdeviceptr output = to + toOffset;
    void *arguments[] = {&output, &value, &kernelLoops};
    enqueueOwnFunction(context, name, kernelLoops.count, arguments, stream);
  });
}

void StridedCopy::enqueue(CudaContext &context, CUdeviceptr from, CUdeviceptr to,
                          CudaStream &stream) const {
  const CopyLoops &loops = getLoops();
  if (loops.getNumElements() == 0)
    return;
  if (loops.isContiguous())
    return check(
        cuMemcpyAsync(to, from, static_cast<size_t>(loops.shape[0] * loops.size), stream.get()),
        "cuMemcpyAsync");
  strided.copy(context, from, to, stream);
}

StridedFill::StridedFill(const View &output, const std::string &value)
    : strided(CopyLoops(output), true) {
  auto *bytes = reinterpret_cast<std::byte *>(&word);
  for (size_t at = 0; at < sizeof(word); at += value.size())
    std::memcpy(bytes + at, value.data(), value.size());
}

/// Fills by the driver where it can; returns whether it has.
bool StridedFill::fillRun(CUdeviceptr to, CUstream stream) const {
  const CopyLoops &loops = strided.getLoops();
  if (loops.shape.size() != 1 || loops.to[0] != loops.size)
    return false;
  auto count = static_cast<size_t>(loops.shape[0]);
  switch (loops.size) {
  case 1:
    check(cuMemsetD8Async(to, static_cast<unsigned char>(word.low), count, stream),
          "cuMemsetD8Async");
    return true;
  case 2:
    check(cuMemsetD16Async(to, static_cast<unsigned short>(word.low), count, stream),
          "cuMemsetD16Async");
    return true;
  default:
    auto low = static_cast<unsigned>(word.low), high = static_cast<unsigned>(word.low >> 32);
    if (low != high)
      return false;
    count *= static_cast<size_t>(loops.size / 4);
    check(cuMemsetD32Async(to, low, count, stream), "cuMemsetD32Async");
    return true;
  }
}

void StridedFill::enqueue(CudaContext &context, CUdeviceptr to, CudaStream &stream) const {
  if (strided.getLoops().getNumElements() != 0 && !fillRun(to, stream.get()))
    strided.fill(context, word, to, stream);
}

} // namespace weft::runtime
