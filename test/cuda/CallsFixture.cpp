//===- CallsFixture.cpp - one call on two devices -------------------------===//

#include "test/cuda/CallsFixture.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/ForEachOffset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/ranges.h>
#include <numeric>

namespace weft::test {

using namespace weft::runtime;
namespace program = weft::program;

namespace {

constexpr double forEver = 600; // seconds

void store(DType dtype, double value, std::byte *to) {
  auto put = [&](auto typed) { std::memcpy(to, &typed, sizeof(typed)); };
  switch (dtype) {
  case program::F16:
    return put(floatToHalf(static_cast<float>(value)));
  case program::BF16:
    return put(floatToBfloat(static_cast<float>(value)));
  case program::F32:
    return put(static_cast<float>(value));
  case program::F64:
    return put(value);
  default: // little endian: the low bytes of any integer
    auto whole = static_cast<int64_t>(value);
    std::memcpy(to, &whole, getElementSize(dtype));
  }
}

/// Strides of a view whose dimensions lie in `order`, the innermost last.
Index drawStrides(Draw &draw, const Index &shape, const std::vector<size_t> &order, bool hasGaps,
                  bool repeats) {
  Index strides(shape.size());
  int64_t step = hasGaps && draw.isOneIn(3) ? draw.within(2, 3) : 1;
  for (size_t i = order.size(); i-- > 0;) {
    size_t dim = order[i];
    if (shape[dim] == 1 && draw.isOneIn(3)) {
      strides[dim] = draw.within(0, 9);
      continue;
    }
    if (repeats && draw.isOneIn(3))
      continue;
    strides[dim] = step;
    int64_t extent = std::max<int64_t>(shape[dim], 1);
    if (hasGaps && draw.isOneIn(3)) // a slice of more
      extent += draw.within(1, 2);
    step *= extent;
  }
  return strides;
}

} // namespace

int64_t getReach(const View &view) {
  if (view.getNumElements() == 0)
    return 0;
  int64_t last = 0;
  for (size_t dim = 0; dim < view.shape.size(); ++dim)
    last += (view.shape[dim] - 1) * view.strides[dim];
  return (last + 1) * getElementSize(view.dtype);
}

std::optional<View> drawView(Draw &draw, uint32_t arena, DType dtype, const Index &shape,
                             const LayoutChoices &choices) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (choices.permutes && draw.isOneIn(2))
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[draw.within(0, static_cast<int64_t>(i) - 1)]);
  View view{arena, 0, dtype, shape, {}};
  view.strides = drawStrides(draw, shape, order, choices.hasGaps && draw.isOneIn(2),
                             choices.repeats && draw.isOneIn(2));
  int64_t size = getElementSize(dtype), room = (arenaBytes - getReach(view)) / size;
  if (room < 0)
    return std::nullopt;
  view.offset = draw.within(0, std::min<int64_t>(room, 64)) * size;
  if (draw.isOneIn(2)) // as the compiler places operands
    view.offset = view.offset / 64 * 64;
  return view;
}

View makePlainView(uint32_t arena, int64_t offset, DType dtype, Index shape) {
  Index strides = getRowMajorStrides(shape);
  return {arena, offset, dtype, std::move(shape), std::move(strides)};
}

std::string describe(const View &view) {
  return fmt::format("{}[{}] strides [{}] at byte {} of arena {}", getName(view.dtype),
                     fmt::join(view.shape, ", "), fmt::join(view.strides, ", "), view.offset,
                     view.arena);
}

void waitFor(Device &device, Stream &stream) {
  auto event = device.makeEvent();
  stream.record(*event);
  if (!event->wait(forEver))
    throwFailure("a stream of {} does not end", device.getName());
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

CallDevice::CallDevice(const std::string &name)
    : device(openDevice(name, {0, 1, 2})), in(*device, CallDevices::numArenas * arenaBytes),
      out(*device, CallDevices::numArenas * arenaBytes), stream(device->makeStream()) {
  for (uint32_t arena = 0; arena < CallDevices::numArenas; ++arena) {
    arenas.emplace_back(*device, arenaBytes);
    bases.push_back(arenas.back().getAddress());
  }
}

const std::byte *CallDevice::run(const Make &make, const std::vector<std::byte> &before) {
  std::unique_ptr<Command> command = make(*device);
  command->initialise();
  std::memcpy(in.getData(), before.data(), before.size());
  for (size_t arena = 0; arena < bases.size(); ++arena)
    stream->copyToDevice(bases[arena], in.getData() + arena * arenaBytes, arenaBytes);
  command->enqueue(bases, *stream);
  for (size_t arena = 0; arena < bases.size(); ++arena)
    stream->copyToHost(out.getData() + arena * arenaBytes, bases[arena], arenaBytes);
  waitFor(*device, *stream);
  return out.getData();
}

void CallDevices::fillWithBytes(Draw &draw) {
  for (std::byte &byte : before)
    byte = static_cast<std::byte>(draw.within(0, 255));
}

void CallDevices::fillWithNumbers(Draw &draw, DType dtype, bool areWhole) {
  int64_t size = getElementSize(dtype), parts = areWhole ? 1 : 1000;
  for (size_t at = 0; at < before.size(); at += size)
    store(dtype, static_cast<double>(draw.within(-2 * parts, 2 * parts)) / double(parts),
          before.data() + at);
}

std::string CallDevices::compare(const CallDevice::Make &make, const View &result,
                                 double tolerance) {
  const std::byte *expected = cpu.run(make, before), *found = cuda.run(make, before);
  std::vector<std::byte> byCpu = before, byCuda = before; // with the result's elements alone
  int64_t size = getElementSize(result.dtype);
  int64_t first = result.arena * arenaBytes + result.offset;
  std::string wrong;
  forEachOffset(result.shape, result.strides, [&](int64_t element) {
    int64_t at = first + element * size;
    std::memcpy(byCpu.data() + at, expected + at, size);
    std::memcpy(byCuda.data() + at, found + at, size);
    if (std::memcmp(expected + at, found + at, size) == 0 || !wrong.empty())
      return;
    double wanted = readAsDouble(result.dtype, expected + at, 0);
    double got = readAsDouble(result.dtype, found + at, 0);
    if (!(std::abs(wanted - got) <= tolerance))
      wrong = fmt::format("element {} of memory is {} instead of {}", element, got, wanted);
  });
  auto findStray = [&](const std::byte *after, const std::vector<std::byte> &wanted) {
    return std::mismatch(wanted.begin(), wanted.end(), after).first - wanted.begin();
  };
  auto end = static_cast<int64_t>(before.size());
  for (int64_t at : {findStray(expected, byCpu), findStray(found, byCuda)})
    if (at != end && wrong.empty())
      wrong = fmt::format("byte {} of arena {} has changed, which is none of the result",
                          at % arenaBytes, at / arenaBytes);
  return wrong;
}

} // namespace weft::test
