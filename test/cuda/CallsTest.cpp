//===- CallsTest.cpp - calls that do not fit, and kernels that fail -------===//
//
// What is malformed the device "cuda" refuses as the CPU does. Which event tells of a failed check:
// the worked example of runtime/Cuda/StreamHistory.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/Support/Error.h"
#include "test/cuda/CallsFixture.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

using namespace weft::runtime;
using namespace weft::test;
namespace program = weft::program;

namespace {

constexpr double forEver = 600; // seconds

/// That both devices refuse what `make` asks for, as bad input.
void checkRefused(CallDevices &devices, const std::function<void(Device &)> &make) {
  for (Device *device : devices.list())
    try {
      make(*device);
      FAIL_CHECK(device->getName() << " makes a command");
    } catch (const Error &error) {
      INFO(device->getName() << ": " << error.what());
      CHECK(error.getKind() == ErrorKind::BadInput);
    }
}

View plain(const Index &shape, DType dtype = program::F32) {
  return makePlainView(0, 0, dtype, shape);
}

} // namespace

TEST_CASE("copies and fills that do not fit are refused") {
  CallDevices devices;
  auto refuseCopy = [&](const View &input, const View &output) {
    INFO("from " << describe(input) << " to " << describe(output));
    checkRefused(devices, [&](Device &device) { device.makeCopy({input, output}); });
  };
  refuseCopy(plain({2, 3}), plain({3, 2}));
  refuseCopy(plain({6}), plain({2, 3}));
  refuseCopy(plain({1, 6}), plain({6}));
  refuseCopy(plain({0}), plain({1}));
  refuseCopy(plain({2, 3}), plain({2, 3}, program::F64));
  refuseCopy(plain({2, 3}), plain({2, 3}, program::I32));
  for (auto [dtype, bytes] : {std::pair(program::F32, 1),
                              {program::F32, 8},
                              {program::F32, 0},
                              {program::U8, 2},
                              {program::F64, 4},
                              {program::BF16, 4}})
    checkRefused(devices, [&](Device &device) {
      device.makeFill({plain({2, 3}, dtype), std::string(bytes, 'x')});
    });
}

TEST_CASE("products of operands that do not fit are refused") {
  CallDevices devices;
  auto refuse = [&](const View &a, const View &b, const View &c) {
    INFO(describe(a) << " by " << describe(b) << " to " << describe(c));
    checkRefused(devices, [&](Device &device) { device.makeGemm({a, b, c, false}); });
  };
  refuse(plain({2, 3}), plain({4, 5}), plain({2, 5}));          // depth
  refuse(plain({2, 3}), plain({3, 5}), plain({3, 5}));          // rows
  refuse(plain({2, 3}), plain({3, 5}), plain({2, 4}));          // columns
  refuse(plain({2, 2, 3}), plain({3, 3, 5}), plain({2, 2, 5})); // batch
  refuse(plain({1, 2, 3}), plain({2, 3, 5}), plain({2, 2, 5})); // which repeats by strides alone
  refuse(plain({2, 3}), plain({1, 3, 5}), plain({1, 2, 5}));    // ranks
  refuse(plain({3}), plain({3}), plain({3}));                   // of vectors
  refuse(plain({}), plain({}), plain({}));                      // of numbers
  refuse(plain({2, 3}, program::F64), plain({3, 5}), plain({2, 5}));
  refuse(plain({2, 3}), plain({3, 5}), plain({2, 5}, program::BF16));
}

TEST_CASE("convolutions of operands that do not fit are refused") {
  CallDevices devices;
  ConvCall good{plain({2, 4, 9}), plain({6, 2, 3}), plain({2, 6, 4}), {2}, {0}, {0}, {1}, 2};
  for (Device *device : devices.list())
    CHECK_NOTHROW(device->makeConv(good));
  auto refuse = [&](auto change) {
    ConvCall call = good;
    change(call);
    checkRefused(devices, [&](Device &device) { device.makeConv(call); });
  };
  refuse([](ConvCall &call) { call.output = plain({2, 6, 5}); });
  refuse([](ConvCall &call) { call.output = plain({1, 6, 4}); });
  refuse([](ConvCall &call) { call.output = plain({2, 6, 4, 1}); });
  refuse([](ConvCall &call) { call.output = plain({2, 6, 4}, program::F64); });
  refuse([](ConvCall &call) { call.input = plain({2, 4, 2}); }); // less than a window
  refuse([](ConvCall &call) { call.kernel = plain({6, 4, 3}); });
  refuse([](ConvCall &call) { call.kernel = plain({6, 2, 3}, program::F16); });
  refuse([](ConvCall &call) { call.groups = 1; });
  refuse([](ConvCall &call) { call.groups = 0; });
  refuse([](ConvCall &call) { call.groups = 4; });
  refuse([](ConvCall &call) { call.strides = {0}; });
  refuse([](ConvCall &call) { call.strides = {2, 1}; });
  refuse([](ConvCall &call) { call.low = {}; });
  refuse([](ConvCall &call) { call.high = {1, 1}; });
  refuse([](ConvCall &call) { call.dilations = {0}; });
  refuse([](ConvCall &call) { call.kernelGradient = true; }); // its operands change places
}

//===----------------------------------------------------------------------===//
// Checks of kernels
//===----------------------------------------------------------------------===//

namespace {

/// Refuses a number of 64 bits that is not in [0, 10).
constexpr const char *kernels = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry take_digit(.param .u64 x, .param .u64 tiles, .param .u64 slot) {
  .reg .pred %p<4>; .reg .b32 %r<2>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $L_end;
  ld.param.u64 %rd1, [x]; cvta.to.global.u64 %rd1, %rd1;
  ld.global.b64 %rd2, [%rd1]; setp.lt.u64 %p2, %rd2, 10; @%p2 bra $L_end;
  ld.param.u64 %rd3, [slot]; cvta.to.global.u64 %rd3, %rd3;
  atom.global.exch.b64 %rd4, [%rd3], 1; setp.ne.s64 %p3, %rd4, 0; @%p3 bra $L_end;
  mov.b64 %rd5, 0;
  st.global.b64 [%rd3+8], %rd5; st.global.b64 [%rd3+16], %rd2; st.global.b64 [%rd3+24], %rd5;
$L_end:
  ret;
}
)";

/// A device whose launch `number` takes the digit of that number.
class DigitBench {
public:
  static constexpr int64_t numLaunches = 6;

  explicit DigitBench(const std::string &folder)
      : device(openDevice("cuda", {0, 1, 2})), arena(*device, 8 * numLaunches),
        host(*device, 8 * numLaunches) {
    std::ofstream(folder + "/cuda.ptx") << kernels;
    device->loadKernels(folder);
    for (int64_t number = 0; number < numLaunches; ++number) {
      View digit = makePlainView(0, 8 * number, program::I64, {1});
      launches.push_back(device->makeLaunch(
          {"take_digit", {digit}, {}, 1, 1, {{"no digit", 0, 10, "L" + std::to_string(number)}}}));
      launches.back()->initialise();
    }
  }

  /// Puts digits where launches find them, those in `bad` but for 77.
  void put(Stream &stream, const std::vector<int64_t> &bad) {
    std::vector<int64_t> digits(numLaunches, 7);
    for (int64_t number : bad)
      digits[number] = 77;
    std::memcpy(host.getData(), digits.data(), 8 * numLaunches);
    stream.copyToDevice(arena.getAddress(), host.getData(), 8 * numLaunches);
  }
  void launch(Stream &stream, int64_t low, int64_t high) {
    for (int64_t number = low; number < high; ++number)
      launches[number]->enqueue({arena.getAddress()}, stream);
  }
  Device &get() { return *device; }

private:
  std::unique_ptr<Device> device;
  DeviceMemory arena;
  HostMemory host;
  std::vector<std::unique_ptr<Command>> launches;
};

/// The launch whose failure waiting for an event tells of: "L3"; "" where none has failed.
std::string getFailed(Event &event) {
  try {
    return event.wait(forEver) ? "" : "none is done";
  } catch (const Error &error) {
    CHECK(error.getKind() == ErrorKind::BadInput);
    std::string message = error.what();
    CHECK_THAT(message, Catch::Contains("no digit: value 77 at position 0 is not in [0, 10)"));
    return message.substr(message.size() - 3, 2);
  }
}

} // namespace

// Launches L0 L1 L2, event e, L3 L4, event f, L5; and an event behind that.
TEST_CASE("an event tells of the checks that failed before it, and of none behind") {
  TemporaryFolder folder;
  DigitBench bench(folder.getPath());
  for (int64_t bad = 0; bad < DigitBench::numLaunches; ++bad)
    for (bool waitsInOrder : {true, false}) {
      auto stream = bench.get().makeStream(), other = bench.get().makeStream();
      auto e = bench.get().makeEvent(), f = bench.get().makeEvent(), last = bench.get().makeEvent(),
           afterE = bench.get().makeEvent(), afterF = bench.get().makeEvent();
      bench.put(*stream, {bad});
      bench.launch(*stream, 0, 3);
      stream->record(*e);
      bench.launch(*stream, 3, 5);
      stream->record(*f);
      bench.launch(*stream, 5, 6);
      stream->record(*last);
      other->wait(*e);
      other->record(*afterE);
      other->wait(*f);
      other->record(*afterF);
      std::string name = "L" + std::to_string(bad);
      INFO(name);
      auto checkLast = [&] { CHECK(getFailed(*last) == name); };
      if (!waitsInOrder)
        checkLast();
      for (Event *event : {e.get(), afterE.get()})
        CHECK(getFailed(*event) == (bad < 3 ? name : ""));
      for (Event *event : {f.get(), afterF.get()})
        CHECK(getFailed(*event) == (bad < 5 ? name : ""));
      checkLast();
    }
}

TEST_CASE("of several checks that failed the first is told, whoever waits") {
  TemporaryFolder folder;
  DigitBench bench(folder.getPath());
  auto stream = bench.get().makeStream();
  auto e = bench.get().makeEvent(), f = bench.get().makeEvent();
  bench.put(*stream, {1, 2, 4});
  bench.launch(*stream, 0, 3);
  stream->record(*e);
  bench.launch(*stream, 3, 5);
  stream->record(*f);
  CHECK(getFailed(*f) == "L1");
  CHECK(getFailed(*e) == "L1");
  // Another stream does not know of it, and the launches' slots are free again.
  auto fresh = bench.get().makeStream();
  auto g = bench.get().makeEvent();
  bench.put(*fresh, {});
  bench.launch(*fresh, 0, 6);
  fresh->record(*g);
  CHECK(getFailed(*g).empty());
}
