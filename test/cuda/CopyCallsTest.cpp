//===- CopyCallsTest.cpp - copies and fills of a GPU ----------------------===//
//
// By the device "cuda" as by the CPU, to the byte.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/CallsFixture.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace weft::runtime;
using namespace weft::test;
namespace program = weft::program;

namespace {

constexpr size_t mostDims = 10;
constexpr int64_t mostElements = 2048;

const std::vector<DType> dtypeOfSize = {program::U8, program::BF16, program::I32, program::F64};

Index drawShape(Draw &draw) {
  Index shape(draw.within(0, mostDims));
  int64_t elements = 1, largest = shape.size() <= 3 ? 40 : 5;
  for (int64_t &extent : shape) {
    extent = draw.isOneIn(4) ? 1 : draw.within(1, largest);
    if (elements * extent > mostElements)
      extent = 1;
    elements *= extent;
  }
  if (!shape.empty() && draw.isOneIn(25))
    shape[draw.within(0, static_cast<int64_t>(shape.size()) - 1)] = 0;
  return shape;
}

std::string compareCopy(CallDevices &devices, const CopyCall &call) {
  return devices.compare([&](Device &device) { return device.makeCopy(call); }, call.output, 0);
}

void checkCopy(CallDevices &devices, const CopyCall &call) {
  if (std::string wrong = compareCopy(devices, call); !wrong.empty())
    FAIL_CHECK("from " << describe(call.input) << " to " << describe(call.output) << ": " << wrong);
}

void checkFill(CallDevices &devices, const FillCall &call) {
  std::string wrong =
      devices.compare([&](Device &device) { return device.makeFill(call); }, call.output, 0);
  if (!wrong.empty())
    FAIL_CHECK("of " << describe(call.output) << ": " << wrong);
}

/// Strides with a gap behind every dimension: no two of them can be merged.
Index makeGappedStrides(const Index &shape) {
  Index strides(shape.size());
  int64_t step = 1;
  for (size_t dim = shape.size(); dim-- > 0; step = step * shape[dim] + 1)
    strides[dim] = step;
  return strides;
}

} // namespace

TEST_CASE("copies between arenas: permuted, sliced, repeated") {
  CallDevices devices;
  Draw draw(1);
  devices.fillWithBytes(draw);
  for (int number = 0; number < 1200; ++number) {
    Index shape = drawShape(draw);
    DType dtype = draw.oneOf(dtypeOfSize);
    LayoutChoices reads;
    reads.repeats = true;
    auto input = drawView(draw, 0, dtype, shape, reads),
         output = drawView(draw, 1, dtype, shape, {});
    if (input && output)
      checkCopy(devices, {*input, *output});
  }
}

TEST_CASE("copies of more dimensions than a launch takes") {
  CallDevices devices;
  Draw draw(2);
  devices.fillWithBytes(draw);
  for (int number = 0; number < 60; ++number) {
    Index shape(draw.within(9, 10), 2);
    DType dtype = draw.oneOf(dtypeOfSize);
    auto input = drawView(draw, 0, dtype, shape, {true, true, true});
    View output = makePlainView(1, draw.within(0, 3) * 8, dtype, shape);
    output.strides = makeGappedStrides(shape);
    if (!input)
      continue;
    checkCopy(devices, {*input, output});
    checkFill(devices, {output, std::string("\1\2\3\4\5\6\7\10", getElementSize(dtype))});
  }
}

TEST_CASE("copies from one end of an arena to the other") {
  CallDevices devices;
  Draw draw(3);
  devices.fillWithBytes(draw);
  for (int number = 0; number < 300; ++number) {
    Index shape = drawShape(draw);
    DType dtype = draw.oneOf(dtypeOfSize);
    auto input = drawView(draw, 2, dtype, shape, {}), output = drawView(draw, 2, dtype, shape, {});
    if (!input || !output)
      continue;
    View &behind = draw.isOneIn(2) ? *input : *output;
    View &before = &behind == &*input ? *output : *input;
    behind.offset = before.offset + getReach(before); // next to each other
    if (behind.offset + getReach(behind) <= arenaBytes)
      checkCopy(devices, {*input, *output});
  }
}

TEST_CASE("elements move to where others of them lie") {
  CallDevices devices;
  Draw draw(4);
  devices.fillWithBytes(draw);
  for (int number = 0; number < 700; ++number) {
    DType dtype = draw.oneOf(dtypeOfSize);
    int64_t size = getElementSize(dtype);
    auto input = drawView(draw, 0, dtype, drawShape(draw), {});
    if (!input)
      continue;
    View output = *input;
    int64_t elements = std::max<int64_t>(getReach(output) / size, 1);
    int64_t distance = draw.within(0, draw.isOneIn(2) ? std::min<int64_t>(elements, 4) : elements);
    (draw.isOneIn(2) ? output : *input).offset += distance * size;
    if (std::max(output.offset, input->offset) + getReach(output) <= arenaBytes)
      checkCopy(devices, {*input, output});
  }
}

TEST_CASE("fills: the value's bytes, and none between") {
  CallDevices devices;
  Draw draw(5);
  devices.fillWithBytes(draw);
  for (int number = 0; number < 700; ++number) {
    DType dtype = draw.oneOf(dtypeOfSize);
    auto output = drawView(draw, 1, dtype, drawShape(draw), {});
    if (!output)
      continue;
    std::string value(getElementSize(dtype), '\0');
    for (char &byte : value)
      byte = static_cast<char>(draw.within(0, 255));
    if (value.size() == 8 && draw.isOneIn(2)) // what the driver can fill with
      value = value.substr(0, 4) + value.substr(0, 4);
    checkFill(devices, {*output, value});
  }
}

namespace {

/// Rows that lie apart, each filled with a letter.
struct LetteredRows {
  int64_t groups, rows, rowBytes;

  static constexpr int64_t gap = 256; ///< bytes behind a row, so that rows are not merged

  /// `count` rows of each group, from row `first` on.
  View getView(int64_t first, int64_t count) const {
    int64_t pitch = (rowBytes + gap) / 8;
    return {0,
            8 * first * pitch,
            program::F64,
            {groups, count, rowBytes / 8},
            {rows * pitch, pitch, 1}};
  }
  int64_t getBytes() const { return groups * rows * (rowBytes + gap); }

  /// What the rows of all groups hold, a letter each, when `count` rows of each have moved from row
  /// `from` to row `to`; "?" for a row of several letters. `workspace`: bytes that it asked for.
  std::string move(Device &device, const std::string &letters, int64_t from, int64_t to,
                   int64_t count, int64_t &workspace) const;

private:
  void write(std::byte *data, const std::string &letters) const;
  std::string read(const std::byte *data) const;
};

std::string LetteredRows::move(Device &device, const std::string &letters, int64_t from, int64_t to,
                               int64_t count, int64_t &workspace) const {
  DeviceMemory arena(device, getBytes());
  HostMemory host(device, getBytes());
  auto stream = device.makeStream();
  write(host.getData(), letters);
  stream->copyToDevice(arena.getAddress(), host.getData(), getBytes());
  int64_t available = device.getAvailableMemory();
  auto copy = device.makeCopy({getView(from, count), getView(to, count)});
  workspace = available - device.getAvailableMemory();
  copy->initialise();
  copy->enqueue({arena.getAddress()}, *stream);
  stream->copyToHost(host.getData(), arena.getAddress(), getBytes());
  waitFor(device, *stream);
  return read(host.getData());
}

void LetteredRows::write(std::byte *data, const std::string &letters) const {
  for (char letter : letters) {
    std::memset(data, letter, rowBytes);
    std::memset(data + rowBytes, 0, gap);
    data += rowBytes + gap;
  }
}

std::string LetteredRows::read(const std::byte *data) const {
  std::string found;
  for (int64_t row = 0; row < groups * rows; ++row, data += rowBytes + gap) {
    bool isOne = std::memcmp(data, data + 1, rowBytes - 1) == 0;
    bool isApart = data[rowBytes] == std::byte(0) &&
                   std::memcmp(data + rowBytes, data + rowBytes + 1, gap - 1) == 0;
    found += isOne && isApart ? static_cast<char>(data[0]) : '?';
  }
  return found;
}

} // namespace

// The worked example of runtime/Cuda/Copy.cpp: pieces are of 32 MiB at most.
TEST_CASE("a move goes through the workspace in pieces of 3") {
  LetteredRows rows{1, 9, 10 << 20};
  for (const char *name : {"cpu", "cuda"}) {
    INFO(name);
    auto device = openDevice(name, {0, 1, 2});
    int64_t workspace = 0;
    CHECK(rows.move(*device, "abcdefg..", 0, 2, 7, workspace) == "ababcdefg");
    if (std::string(name) == "cuda")
      CHECK(workspace == 3 * rows.rowBytes);
  }
}

TEST_CASE("a move is cut within a dimension, for each element of those outside") {
  LetteredRows rows{2, 8, 5 << 20};
  auto device = openDevice("cuda", {0, 1, 2});
  int64_t workspace = 0;
  CHECK(rows.move(*device, "abcdefghABCDEFGH", 1, 0, 7, workspace) == "bcdefghhBCDEFGHH");
  CHECK(workspace == 6 * rows.rowBytes);
}
