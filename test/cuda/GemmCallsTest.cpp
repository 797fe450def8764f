//===- GemmCallsTest.cpp - matrix products of a GPU -----------------------===//
//
// By the device "cuda" as by the CPU: whole numbers exactly, others to the rounding of sums.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/CallsFixture.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

using namespace weft::runtime;
using namespace weft::test;
namespace program = weft::program;

namespace {

/// The step between numbers near 1.
double getPrecision(DType dtype) {
  switch (dtype) {
  case program::F16:
    return std::ldexp(1, -10);
  case program::BF16:
    return std::ldexp(1, -7);
  case program::F32:
    return std::ldexp(1, -23);
  default:
    return std::ldexp(1, -52);
  }
}

/// Of sums of `depth` products of numbers up to 2, and of what they are added to.
double getTolerance(DType dtype, int64_t depth) {
  bool isNarrow = dtype == program::F16 || dtype == program::BF16;
  double largest = static_cast<double>(4 * depth + 2);
  return getPrecision(dtype) * largest * (isNarrow ? 1 : std::sqrt(static_cast<double>(depth + 1)));
}

std::string compareGemm(CallDevices &devices, const GemmCall &call, double tolerance) {
  std::string wrong =
      devices.compare([&](Device &device) { return device.makeGemm(call); }, call.c, tolerance);
  if (wrong.empty())
    return "";
  return describe(call.a) + " by " + describe(call.b) + (call.accumulate ? " added to " : " to ") +
         describe(call.c) + ": " + wrong;
}

std::optional<GemmCall> drawGemm(Draw &draw, DType dtype) {
  const std::vector<int64_t> extents = {1, 1, 2, 3, 4, 5, 8, 13, 17, 30};
  Index batch(draw.within(0, 3));
  for (int64_t &extent : batch)
    extent = draw.within(1, 3);
  int64_t m = draw.oneOf(extents), n = draw.oneOf(extents), k = draw.oneOf(extents);
  if (draw.isOneIn(20))
    draw.oneOf(std::vector<int64_t *>{&m, &n, &k, &k})[0] = 0;
  if (!batch.empty() && draw.isOneIn(30))
    batch[0] = 0;
  auto getShape = [&](int64_t rows, int64_t columns) {
    Index shape = batch;
    shape.insert(shape.end(), {rows, columns});
    return shape;
  };
  LayoutChoices reads;
  reads.repeats = true;
  auto a = drawView(draw, 0, dtype, getShape(m, k), reads);
  auto b = drawView(draw, 1, dtype, getShape(k, n), reads);
  auto c = drawView(draw, 2, dtype, getShape(m, n), {});
  if (!a || !b || !c)
    return std::nullopt;
  return GemmCall{*a, *b, *c, draw.isOneIn(2)};
}

/// Products of a type; `areWhole`: without rounding.
void checkProducts(unsigned seed, int count, DType dtype, bool areWhole) {
  CallDevices devices;
  Draw draw(seed);
  devices.fillWithNumbers(draw, dtype, areWhole);
  for (int number = 0; number < count; ++number)
    if (std::optional<GemmCall> call = drawGemm(draw, dtype)) {
      double tolerance = areWhole ? 0 : getTolerance(dtype, call->a.shape.back());
      if (std::string wrong = compareGemm(devices, *call, tolerance); !wrong.empty())
        FAIL_CHECK(wrong);
    }
}

} // namespace

TEST_CASE("products of floats, whose layouts the library takes or not") {
  for (DType dtype : {program::F32, program::F64, program::F16, program::BF16}) {
    checkProducts(10 + dtype, 160, dtype, /*areWhole=*/true);
    checkProducts(30 + dtype, 160, dtype, /*areWhole=*/false);
  }
}

TEST_CASE("products of integers, modulo 2^bits") {
  for (DType dtype : {program::I8, program::I16, program::I32, program::I64, program::U8,
                      program::U16, program::U32, program::U64}) {
    CallDevices devices;
    Draw draw(50 + dtype);
    devices.fillWithBytes(draw);
    for (int number = 0; number < 60; ++number)
      if (std::optional<GemmCall> call = drawGemm(draw, dtype))
        if (std::string wrong = compareGemm(devices, *call, 0); !wrong.empty())
          FAIL_CHECK(wrong);
  }
}

namespace {

/// A product as in the worked example of runtime/Cuda/GemmPlan.h, its b with these strides.
GemmCall makeExample(const Index &strides) {
  GemmCall call{makePlainView(0, 0, program::F32, {6, 4, 5}),
                makePlainView(1, 0, program::F32, {6, 5, 7}),
                makePlainView(2, 0, program::F32, {6, 4, 7})};
  call.b.strides = strides;
  return call;
}

/// Bytes that a product wants to work in, by the memory that it leaves.
int64_t getWorkspace(const GemmCall &call) {
  auto device = openDevice("cuda", {0, 1, 2});
  int64_t available = device->getAvailableMemory();
  auto command = device->makeGemm(call);
  return available - device->getAvailableMemory();
}

} // namespace

TEST_CASE("a product by one matrix needs no copy, and one by spread matrices a copy of these") {
  int64_t ofLibrary = getWorkspace(makeExample({35, 7, 1}));
  CHECK(ofLibrary > 0);
  CHECK(getWorkspace(makeExample({0, 7, 1})) == ofLibrary);
  CHECK(getWorkspace(makeExample({70, 14, 2})) == ofLibrary + 1024); // 6·5·7 elements: 840 bytes
  CHECK(getWorkspace(makeExample({0, 14, 2})) == ofLibrary + 256);   // one matrix: 140 bytes
  GemmCall apart = makeExample({0, 14, 2});
  apart.a.strides[0] = 24; // no product of 24 rows: the matrix repeats, and is packed once
  CHECK(getWorkspace(apart) == ofLibrary + 256);
  CallDevices devices;
  Draw draw(70);
  devices.fillWithNumbers(draw, program::F32, true);
  for (const Index &strides : {Index{35, 7, 1}, {0, 7, 1}, {70, 14, 2}, {0, 14, 2}})
    CHECK(compareGemm(devices, makeExample(strides), 0) == "");
  CHECK(compareGemm(devices, apart, 0) == "");
}

TEST_CASE("a product without memory to work in fails each time, and is done once there is some") {
  auto device = openDevice("cuda", {0, 1, 2});
  DeviceMemory arena(*device, 1 << 12);
  DeviceBases bases = {arena.getAddress(), arena.getAddress(), arena.getAddress() + (1 << 11)};
  auto stream = device->makeStream();
  auto command = device->makeGemm(makeExample({0, 14, 2}));
  command->initialise();
  setenv("WEFT_STAND_IN_MEMORY", "65536", 1); // of the GPU, from here on
  for (int attempt = 0; attempt < 2; ++attempt)
    CHECK_THROWS_WITH(command->enqueue(bases, *stream), Catch::Contains("no memory"));
  unsetenv("WEFT_STAND_IN_MEMORY");
  command->enqueue(bases, *stream);
  CHECK_NOTHROW(waitFor(*device, *stream));
}
