//===- StagingTest.cpp - operands between host and device -----------------===//

#include "runtime/Executor/Staging.h"
#include "runtime/Collective/Local/LocalTransport.h"
#include "runtime/Executor/OpenDevice.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/ForEachOffset.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <set>

using namespace weft::runtime;
namespace program = weft::program;

namespace {

/// What the executor has of one rank's device.
struct Bench {
  explicit Bench(const std::string &name)
      : transport(std::move(makeLocalTransports(1).front())), device(openDevice(name, {0, 1, 1})),
        wait(*device, *transport), arena(*device, 1 << 20), bases{arena.getAddress()},
        staging(*device, wait), stream(device->makeStream()) {}

  /// All bytes of the arena.
  std::vector<std::byte> getContent() {
    View all{0, 0, program::I8, {1 << 20}, {1}};
    std::vector<std::byte> content(1 << 20);
    staging.look(all, bases, *stream, [&](const Piece &piece, const std::byte *memory) {
      std::memcpy(&content[piece.start[0]], memory, piece.view.shape[0]);
    });
    return content;
  }

  std::unique_ptr<Transport> transport;
  std::unique_ptr<Device> device;
  HostWait wait;
  DeviceMemory arena;
  DeviceBases bases;
  Staging staging;
  std::unique_ptr<Stream> stream;
};

/// A view of random shape and order of dimensions, some with holes, one direction reversed at
/// times.
View makeView(std::mt19937 &random, DType dtype) {
  View view{0, 64 * static_cast<int64_t>(random() % 64), dtype, {}, {}};
  size_t rank = random() % 4;
  view.strides.resize(rank);
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) {
    view.shape.push_back(1 + random() % 40);
    order[i] = i;
  }
  std::shuffle(order.begin(), order.end(), random);
  int64_t step = 1;
  for (size_t dim : order) {
    step *= random() % 3 == 0 ? 2 : 1;
    view.strides[dim] = step;
    step *= view.shape[dim];
  }
  if (rank > 0 && random() % 4 == 0) {
    view.offset += (view.shape[0] - 1) * view.strides[0] * getElementSize(dtype);
    view.strides[0] *= -1;
  }
  return view;
}

} // namespace

TEST_CASE("pieces cover an operand once, each within the limit") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    View view = makeView(random, program::F32);
    int64_t limit = 1 + random() % 5000;
    std::set<int64_t> seen;
    for (const Piece &piece : cutIntoPieces(view, limit)) {
      int64_t low = 0, high = 4, offset = view.offset;
      for (size_t dim = 0; dim < view.shape.size(); ++dim) {
        int64_t reach = (piece.view.shape[dim] - 1) * view.strides[dim] * 4;
        (reach < 0 ? low : high) += reach;
        offset += piece.start[dim] * view.strides[dim] * 4;
      }
      REQUIRE(piece.view.offset == offset);
      REQUIRE((high - low <= limit || piece.view.getNumElements() == 1));
      forEachOffset(piece.view.shape, piece.view.strides,
                    [&](int64_t at) { REQUIRE(seen.insert(offset + at * 4).second); });
    }
    REQUIRE(static_cast<int64_t>(seen.size()) == view.getNumElements());
  }
}

TEST_CASE("operands are filled and looked at, their holes left alone, each byte copied once") {
  for (const char *name : {"cpu", "guarded"}) {
    INFO(name);
    std::mt19937 random(2);
    for (int round = 0; round < 60; ++round) {
      Bench bench(name);
      View view = makeView(random, round % 2 ? program::F64 : program::I16);
      int64_t size = getElementSize(view.dtype);
      std::vector<std::byte> expected = bench.getContent();
      int64_t before = bench.device->getCopiedBytes().toHost;
      int value = 0;
      bench.staging.fill(
          view, bench.bases, *bench.stream, [&](const Piece &piece, std::byte *memory) {
            forEachOffset(piece.view.shape, piece.view.strides, [&](int64_t at) {
              std::memset(memory + at * size, ++value & 255, size);
              std::memset(&expected[piece.view.offset + at * size], value & 255, size);
            });
          });
      std::vector<std::byte> got;
      bench.staging.look(view, bench.bases, *bench.stream,
                         [&](const Piece &piece, const std::byte *memory) {
                           forEachOffset(piece.view.shape, piece.view.strides, [&](int64_t at) {
                             got.insert(got.end(), memory + at * size, memory + (at + 1) * size);
                           });
                         });
      CopiedBytes copied = bench.device->getCopiedBytes();
      int64_t bytes = std::string(name) == "cpu" ? 0 : view.getNumBytes();
      CHECK(copied.toDevice == bytes);
      CHECK(copied.toHost - before == bytes);
      REQUIRE(static_cast<int64_t>(got.size()) == view.getNumBytes());
      for (int64_t i = 0; i < value; ++i)
        REQUIRE(got[i * size] == std::byte((i + 1) & 255));
      REQUIRE(bench.getContent() == expected);
    }
  }
}

TEST_CASE("windows are the CPU's own memory") {
  Bench bench("cpu");
  View view{0, 128, program::F32, {4, 8}, {8, 1}};
  Staging::Window window = bench.staging.open(view, bench.bases, *bench.stream);
  CHECK(window.getData() == bench.device->getHostPointer(bench.bases[0] + 128));
}

TEST_CASE("a wait for the device ends with the run") {
  Bench bench("guarded");
  struct Never : Event {
    bool isDone() const override { return false; }
    bool wait(double) override { return false; }
    double getSecondsSince(const Event &) const override { return 0; }
  } never;
  bench.transport->abort({0, 5, "over", 0, ""});
  CHECK_THROWS_WITH(bench.wait.forEvent(never), "stopped while waiting for the device");
}
