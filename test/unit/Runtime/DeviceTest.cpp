//===- DeviceTest.cpp - what every device must do -------------------------===//
//
// On the CPU, and on the test device whose streams run late and whose memory the host cannot reach.
//
//===----------------------------------------------------------------------===//

#include "runtime/Executor/OpenDevice.h"
#include "runtime/Support/Error.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft::runtime;
using namespace weft::test;
namespace program = weft::program;

namespace {

constexpr double forEver = 600;

/// A device of that name, as one rank with two threads has it; "guarded random" is the guarded one
/// whose streams work at random moments.
std::unique_ptr<Device> open(const std::string &name) {
  setenv("WEFT_GUARDED", name == "guarded random" ? "random:7" : "late", 1);
  return openDevice(name.substr(0, name.find(' ')), {0, 1, 2});
}

const std::vector<std::string> devices = {"cpu", "guarded", "guarded random"};

void waitFor(Device &device, Stream &stream) {
  auto event = device.makeEvent();
  stream.record(*event);
  REQUIRE(event->wait(forEver));
}

/// A device, an arena of 1 MiB, and host memory to copy from and to.
struct Bench {
  explicit Bench(const std::string &name)
      : device(open(name)), arena(*device, 1 << 20), in(*device, 1 << 20), out(*device, 1 << 20),
        bases{arena.getAddress()}, stream(device->makeStream()) {}

  template <typename T> void put(int64_t offset, const std::vector<T> &values) {
    std::memcpy(in.getData() + offset, values.data(), values.size() * sizeof(T));
    stream->copyToDevice(bases[0] + offset, in.getData() + offset,
                         static_cast<int64_t>(values.size() * sizeof(T)));
  }
  template <typename T> std::vector<T> get(int64_t offset, size_t count) {
    std::vector<T> values(count);
    stream->copyToHost(out.getData(), bases[0] + offset, static_cast<int64_t>(count * sizeof(T)));
    waitFor(*device, *stream);
    std::memcpy(values.data(), out.getData(), count * sizeof(T));
    return values;
  }

  std::unique_ptr<Device> device;
  DeviceMemory arena;
  HostMemory in, out;
  DeviceBases bases;
  std::unique_ptr<Stream> stream;
};

View makeView(int64_t offset, DType dtype, const std::vector<int64_t> &shape) {
  return {0, offset, dtype, shape, getRowMajorStrides(shape)};
}

std::vector<float> makeValues(size_t count, int seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = 0.1f * static_cast<float>((i * 31 + seed * 17) % 23) - 1;
  return values;
}

/// The fixture's kernel, which refuses ids outside [0, 10), on two rows.
LaunchCall makeSelect() {
  LaunchCall call{"select_rows", {}, {3, 0}, 2, 1, {{"index out of range", 0, 10, "select"}}};
  call.operands = {makeView(0, program::I64, {2}), makeView(1024, program::F32, {2, 3})};
  return call;
}

} // namespace

TEST_CASE("memory holds zeros, and what is copied comes back; bytes are counted") {
  for (const std::string &name : devices) {
    INFO(name);
    Bench bench(name);
    CHECK(bench.get<int>(4096, 3) == std::vector<int>(3, 0));
    bench.put<int>(512, {1, 2, 3, 4});
    CHECK(bench.get<int>(516, 2) == std::vector<int>{2, 3});
    DeviceMemory other(*bench.device, 64);
    CHECK(other.getAddress() != bench.arena.getAddress());
    CHECK(bench.device->getCopiedBytes().toDevice == 16);
    CHECK(bench.device->getCopiedBytes().toHost == 20);
    CHECK(bench.device->getAvailableMemory() > 1 << 20);
    CHECK_THROWS_WITH(bench.device->allocate(int64_t(1) << 60), Catch::Contains("no memory"));
  }
}

TEST_CASE("the host reaches the CPU's memory and no other") {
  Bench cpu("cpu");
  *reinterpret_cast<int *>(cpu.device->getHostPointer(cpu.bases[0] + 8)) = 5;
  CHECK(cpu.get<int>(8, 1) == std::vector<int>{5});

  Bench guarded("guarded");
  guarded.put<int>(8, {5});
  CHECK(guarded.device->getHostPointer(guarded.bases[0] + 8) == nullptr);
  for (bool write : {false, true}) {
    pid_t child = fork();
    if (child == 0) { // touches an address as if it were a pointer
      std::signal(SIGSEGV, SIG_DFL);
      auto *pointer = reinterpret_cast<volatile int *>((guarded.bases[0] + 8).getValue());
      if (write)
        *pointer = 6;
      _exit(*pointer == 5 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGSEGV);
  }
  CHECK(guarded.get<int>(8, 1) == std::vector<int>{5});
}

TEST_CASE("the guarded device refuses bytes outside its memory and the host's own") {
  Bench bench("guarded");
  std::vector<std::byte> own(64);
  CHECK_THROWS_WITH(bench.stream->copyToDevice(bench.bases[0], own.data(), 64),
                    Catch::Contains("not of allocateHost"));
  CHECK_THROWS_WITH(bench.stream->copyToHost(bench.out.getData(), bench.bases[0] + (1 << 20), 1),
                    Catch::Contains("no block"));
}

TEST_CASE("who does not wait finds out") {
  Bench bench("guarded");
  bench.put<int>(0, {7});
  auto *out = reinterpret_cast<int *>(bench.out.getData());
  *out = 7;
  bench.stream->copyToHost(bench.out.getData(), bench.bases[0], sizeof(int));
  usleep(20000);
  CHECK(*out != 7); // rubbish: nobody has waited
  waitFor(*bench.device, *bench.stream);
  CHECK(*out == 7);
  *reinterpret_cast<int *>(bench.in.getData()) = 7;
  bench.stream->copyToDevice(bench.bases[0], bench.in.getData(), sizeof(int));
  *reinterpret_cast<int *>(bench.in.getData()) = 8; // too early
  CHECK(bench.get<int>(0, 1) == std::vector<int>{8});
}

TEST_CASE("streams keep their order, and events order streams") {
  for (const std::string &name : devices) {
    INFO(name);
    Bench bench(name);
    auto second = bench.device->makeStream();
    auto event = bench.device->makeEvent(), never = bench.device->makeEvent();
    CHECK(never->isDone());
    CHECK(never->wait(0));
    second->wait(*never);
    for (int round = 0; round < 50; ++round) {
      int64_t offset = round * 64;
      bench.put<int>(offset, {round});
      auto copy = bench.device->makeCopy(
          {makeView(offset, program::I32, {1}), makeView(offset + 4, program::I32, {1})});
      copy->enqueue(bench.bases, *bench.stream);
      bench.stream->record(*event);
      second->wait(*event);
      second->copyToHost(bench.out.getData() + offset, bench.bases[0] + offset + 4, sizeof(int));
      waitFor(*bench.device, *second);
      CHECK(event->isDone());
      CHECK(*reinterpret_cast<int *>(bench.out.getData() + offset) == round);
    }
  }
}

TEST_CASE("times between events are those of the stream") {
  for (const std::string &name : devices) {
    INFO(name);
    Bench bench(name);
    auto begin = bench.device->makeEvent(), end = bench.device->makeEvent();
    auto fill = bench.device->makeFill({makeView(0, program::I8, {1 << 20}), "x"});
    bench.stream->record(*begin);
    fill->enqueue(bench.bases, *bench.stream);
    bench.stream->record(*end);
    REQUIRE(end->wait(forEver));
    CHECK(end->getSecondsSince(*begin) > 0);
    CHECK(end->getSecondsSince(*begin) < 60);
  }
}

TEST_CASE("commands compute the same on every device") {
  std::vector<std::vector<float>> results;
  for (const std::string &name : devices) {
    Bench bench(name);
    bench.put(0, makeValues(6 * 40, 1));
    bench.put(4096, makeValues(40 * 9, 2));
    View a = makeView(0, program::F32, {6, 40}), b = makeView(4096, program::F32, {40, 9}),
         c = makeView(16384, program::F32, {6, 9});
    View turned = makeView(32768, program::F32, {9, 6});
    turned.shape = {6, 9};
    turned.strides = {1, 6};
    ConvCall conv{makeView(0, program::F32, {1, 6, 40}),
                  makeView(4096, program::F32, {9, 6, 3}),
                  makeView(49152, program::F32, {1, 9, 38}),
                  {1},
                  {0},
                  {0},
                  {1},
                  1};
    std::string half(4, '\0');
    float value = 0.5f;
    std::memcpy(half.data(), &value, 4);
    std::vector<std::unique_ptr<Command>> commands;
    commands.push_back(bench.device->makeFill({c, half}));
    commands.push_back(bench.device->makeGemm({a, b, c, true}));
    commands.push_back(bench.device->makeCopy({c, turned}));
    commands.push_back(bench.device->makeConv(conv));
    for (const auto &command : commands) {
      CHECK_FALSE(command->waitsForStream());
      command->initialise();
      command->enqueue(bench.bases, *bench.stream);
    }
    std::vector<float> result = bench.get<float>(32768, 54);
    std::vector<float> convolved = bench.get<float>(49152, 9 * 38);
    result.insert(result.end(), convolved.begin(), convolved.end());
    results.push_back(result);
    CHECK_THROWS_AS(bench.device->makeGemm({a, a, c, false}), Error);
    CHECK_THROWS_AS(bench.device->makeCopy({a, c}), Error);
    CHECK_THROWS_AS(bench.device->makeFill({c, "x"}), Error);
  }
  CHECK(results[0][0] != 0.5f);
  CHECK(results[1] == results[0]);
  CHECK(results[2] == results[0]);
}

TEST_CASE("a command that fails stops its stream, and whoever waits for it hears why") {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {1, 1});
  for (const std::string &name : {"guarded", "guarded random"}) {
    INFO(name);
    Bench bench(name);
    bench.device->loadKernels(folder / "mlp.weft/kernels");
    auto select = bench.device->makeLaunch(makeSelect());
    select->initialise();
    auto before = bench.device->makeEvent(), after = bench.device->makeEvent(),
         elsewhere = bench.device->makeEvent();
    auto second = bench.device->makeStream();
    bench.put<int64_t>(0, {3, 77});
    bench.stream->record(*before);
    select->enqueue(bench.bases, *bench.stream);
    bench.put<int64_t>(64, {3, 4});
    bench.stream->record(*after);
    second->wait(*after);
    second->record(*elsewhere);
    auto message = Catch::Contains("index out of range: value 77 at position 1 is not in [0, 10), "
                                   "in 'select'");
    CHECK_THROWS_WITH(elsewhere->wait(forEver), message);
    CHECK_THROWS_WITH(after->wait(forEver), message);
    CHECK(before->wait(forEver));
    CHECK(bench.device->getCopiedBytes().toDevice == 16); // what came after was dropped
  }
  Bench cpu("cpu");
  cpu.device->loadKernels(folder / "mlp.weft/kernels");
  auto select = cpu.device->makeLaunch(makeSelect());
  select->initialise();
  cpu.put<int64_t>(0, {3, 77});
  CHECK_THROWS_WITH(select->enqueue(cpu.bases, *cpu.stream), Catch::Contains("value 77"));
}

TEST_CASE("a stream that ends drops what it has not begun") {
  Bench bench("guarded");
  auto event = bench.device->makeEvent();
  bench.put<int>(0, {1});
  bench.stream->record(*event);
  bench.stream.reset();
  CHECK_THROWS_WITH(event->wait(forEver), Catch::Contains("the stream has ended"));
  CHECK(bench.device->getCopiedBytes().toDevice == 0);
}

TEST_CASE("devices are found by their name, and hold programs to their target") {
  CHECK_THROWS_WITH(openDevice("none", {}), Catch::Contains("the device 'none' is not installed") &&
                                                Catch::Contains("weft-device-none.so"));
  CHECK_THROWS_WITH(openDevice("../x", {}), Catch::Contains("no device '../x'"));
  program::Executable executable;
  executable.set_device("cpu");
  CHECK(openDevice(executable, "", {})->getName() == "cpu");
  CHECK(openDevice(executable, "guarded", {})->getName() == "guarded");
  executable.add_cpu_features("avx9000");
  CHECK_THROWS_WITH(openDevice(executable, "guarded", {}), Catch::Contains("avx9000"));
  executable.set_device("cuda");
  CHECK_THROWS_WITH(
      openDevice(executable, "guarded", {}),
      Catch::Contains("compiled for device 'cuda', 'guarded' runs programs for 'cpu'"));
}
