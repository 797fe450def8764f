//===- ProgressTest.cpp - which instruction a device is at ----------------===//

#include "runtime/Executor/Progress.h"
#include "runtime/Collective/Local/LocalTransport.h"
#include "runtime/Executor/OpenDevice.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>

using namespace weft::runtime;
using namespace weft::test;
namespace program = weft::program;

namespace {

struct Bench {
  explicit Bench(const std::string &name)
      : transport(std::move(makeLocalTransports(1).front())), device(openDevice(name, {0, 1, 1})),
        wait(*device, *transport), arena(*device, 4096), bases{arena.getAddress()},
        fill(device->makeFill({{0, 0, program::I64, {2}, {1}}, std::string(8, '\x55')})),
        stream(device->makeStream()), progress(*device, *stream, wait, location) {
    location.enterStep(3);
    progress.begin();
  }

  void enqueue(int64_t number, Command &command, const char *label) {
    location.enterInstruction(number, label);
    command.enqueue(bases, *stream);
    progress.passed({number, label, &seconds});
  }

  RankLocation location{0};
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Device> device;
  HostWait wait;
  DeviceMemory arena;
  DeviceBases bases;
  std::unique_ptr<Command> fill, select;
  double seconds = 0;
  std::unique_ptr<Stream> stream;
  Progress progress;
};

} // namespace

TEST_CASE("the place follows the device, however far behind the host it is") {
  for (const char *name : {"cpu", "guarded"}) {
    INFO(name);
    Bench bench(name);
    for (int64_t i = 0; i < 3000; ++i)
      bench.enqueue(i, *bench.fill, "FILL");
    bench.progress.catchUp();
    CHECK(bench.seconds > 0);
    CHECK(bench.location.describe() == "in step 3, instruction 2999, FILL");
  }
}

TEST_CASE("a failure is put down to the instruction that the device is at") {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {1, 1});
  Bench bench("guarded");
  bench.device->loadKernels(folder / "mlp.weft/kernels");
  LaunchCall call{"select_rows", {}, {1, 0}, 2, 1, {{"index out of range", 0, 10, "select"}}};
  call.operands = {{0, 0, program::I64, {2}, {1}}, {0, 1024, program::F32, {2, 1}, {1, 1}}};
  bench.select = bench.device->makeLaunch(call); // of ids that the fill makes far too large
  bench.select->initialise();
  bench.enqueue(0, *bench.fill, "FILL");
  bench.enqueue(1, *bench.select, "LAUNCH");
  for (int64_t i = 2; i < 9; ++i)
    bench.enqueue(i, *bench.fill, "FILL");
  CHECK(bench.location.describe() == "in step 3, instruction 8, FILL");
  CHECK_THROWS_WITH(bench.progress.catchUp(), Catch::Contains("index out of range"));
  CHECK(bench.location.describe() == "in step 3, instruction 1, LAUNCH");
}
