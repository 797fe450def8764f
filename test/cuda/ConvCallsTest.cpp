//===- ConvCallsTest.cpp - convolutions of a GPU --------------------------===//
//
// By the device "cuda" as by the CPU, to the rounding of sums.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/CallsFixture.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/ranges.h>

using namespace weft::runtime;
using namespace weft::test;
namespace program = weft::program;

namespace {

/// Of sums of a hundred products of numbers up to 2. A CPU's engine may transform windows of f32.
double getTolerance(DType dtype) {
  switch (dtype) {
  case program::F16:
    return 0.25;
  case program::BF16:
    return 2;
  case program::F32:
    return 2e-4;
  default:
    return 1e-12;
  }
}

std::string tell(const ConvCall &call) {
  return fmt::format(
      "{} by {} to {}, strides [{}], pads [{}] and [{}], dilations [{}], groups {}{}",
      describe(call.input), describe(call.kernel), describe(call.output),
      fmt::join(call.strides, ", "), fmt::join(call.low, ", "), fmt::join(call.high, ", "),
      fmt::join(call.dilations, ", "), call.groups,
      call.kernelGradient ? ", gradient of the kernel" : "");
}

/// Shapes and geometry of a convolution.
struct Geometry {
  Index input, kernel, output, strides, low, high, dilations;
  int64_t groups = 1;

  /// Draws a spatial dimension; false where no window has room.
  bool addDimension(Draw &draw);
};

bool Geometry::addDimension(Draw &draw) {
  int64_t extent = draw.within(1, 7), window = draw.within(1, 3);
  int64_t least = draw.isOneIn(4) ? -2 : 0;
  strides.push_back(draw.within(1, 3));
  dilations.push_back(draw.within(1, 2));
  low.push_back(draw.within(least, 2));
  high.push_back(draw.isOneIn(2) ? low.back() : draw.within(least, 3));
  input.push_back(extent);
  kernel.push_back(window);
  int64_t room = extent + low.back() + high.back() - ((window - 1) * dilations.back() + 1);
  output.push_back(room / strides.back() + 1);
  return room >= 0;
}

std::optional<Geometry> drawGeometry(Draw &draw) {
  Geometry drawn;
  drawn.groups = draw.isOneIn(2) ? 1 : draw.within(2, 3);
  int64_t images = draw.within(1, 2), inputs = draw.within(1, 3), outputs = draw.within(1, 3);
  if (draw.isOneIn(40))
    draw.oneOf(std::vector<int64_t *>{&images, &inputs, &outputs})[0] = 0;
  drawn.input = {images, inputs * drawn.groups};
  drawn.kernel = {outputs * drawn.groups, inputs};
  drawn.output = {images, outputs * drawn.groups};
  int64_t dims = draw.isOneIn(30) ? 0 : draw.within(1, 3);
  for (int64_t dim = 0; dim < dims; ++dim)
    if (!drawn.addDimension(draw))
      return std::nullopt;
  return drawn;
}

/// The view with its channels innermost.
View makeChannelsLast(const View &view) {
  View made = view;
  Index shape = view.shape;
  std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  made.strides = getRowMajorStrides(shape);
  std::rotate(made.strides.begin() + 1, made.strides.end() - 1, made.strides.end());
  return made;
}

std::optional<ConvCall> drawConv(Draw &draw, DType dtype) {
  std::optional<Geometry> drawn = drawGeometry(draw);
  if (!drawn)
    return std::nullopt;
  bool gradient = draw.isOneIn(3);
  // Half of the operands are row-major, some have channels last, the others lie in any way.
  auto place = [&](uint32_t arena, const Index &shape, bool repeats) {
    LayoutChoices choices{true, true, repeats};
    if (draw.isOneIn(2))
      choices = {false, false, false};
    std::optional<View> view = drawView(draw, arena, dtype, shape, choices);
    return view && draw.isOneIn(4) ? makeChannelsLast(*view) : view;
  };
  auto input = place(0, drawn->input, true), kernel = place(1, drawn->kernel, !gradient),
       output = place(2, drawn->output, gradient);
  if (!input || !kernel || !output)
    return std::nullopt;
  if (gradient)
    std::swap(kernel, output);
  return ConvCall{*input,      *kernel,          *output,       drawn->strides, drawn->low,
                  drawn->high, drawn->dilations, drawn->groups, gradient};
}

void checkConvolutions(unsigned seed, int count, DType dtype) {
  CallDevices devices;
  Draw draw(seed);
  devices.fillWithNumbers(draw, dtype, /*areWhole=*/false);
  for (int number = 0; number < count; ++number)
    if (std::optional<ConvCall> call = drawConv(draw, dtype)) {
      std::string wrong = devices.compare([&](Device &device) { return device.makeConv(*call); },
                                          call->output, getTolerance(dtype));
      if (!wrong.empty())
        FAIL_CHECK(tell(*call) << ": " << wrong);
    }
}

} // namespace

TEST_CASE("convolutions and gradients of their kernels, of any geometry and layout") {
  checkConvolutions(80, 700, program::F32);
  checkConvolutions(81, 500, program::F64);
}

TEST_CASE("convolutions of 16 bits") {
  checkConvolutions(82, 150, program::F16);
  checkConvolutions(83, 150, program::BF16);
}

TEST_CASE("pads below 0 may leave nothing of the input") {
  CallDevices devices;
  Draw draw(84);
  devices.fillWithNumbers(draw, program::F32, false);
  for (auto [low, high] : {std::pair(-6, 8), {-3, 5}, {8, -6}, {-4, 4}, {-1, -1}}) {
    int64_t positions = 4 + low + high - 1;
    ConvCall call{makePlainView(0, 0, program::F32, {2, 2, 4}),
                  makePlainView(1, 0, program::F32, {3, 2, 2}),
                  makePlainView(2, 0, program::F32, {2, 3, positions}),
                  {1},
                  {low},
                  {high},
                  {1}};
    INFO(tell(call));
    CHECK(devices.compare([&](Device &device) { return device.makeConv(call); }, call.output,
                          1e-5) == "");
  }
}

TEST_CASE(
    "the input is copied among its padding where windows reach pads that differ, only there") {
  auto getWorkspace = [](int64_t high) {
    auto device = openDevice("cuda", {0, 1, 2});
    int64_t available = device->getAvailableMemory();
    auto command = device->makeConv({makePlainView(0, 0, program::F32, {1, 1, 4}),
                                     makePlainView(1, 0, program::F32, {1, 1, 2}),
                                     makePlainView(2, 0, program::F32, {1, 1, 2 + high / 2}),
                                     {2},
                                     {0},
                                     {high},
                                     {1}});
    return available - device->getAvailableMemory();
  };
  CHECK(getWorkspace(1) == getWorkspace(0)); // windows begin at 0 and 2
  CHECK(getWorkspace(2) == getWorkspace(0) + 256);
}
