//===- CollectivesTest.cpp - collectives between threads ------------------===//

#include "runtime/Collective/Collectives.h"
#include "runtime/Collective/Local/LocalTransport.h"
#include "runtime/Support/DType.h"
#include "runtime/Support/Error.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>

using namespace weft::runtime;
namespace program = weft::program;
namespace plan = weft::plan;

namespace {

/// Runs `body(transport, group of all)` on `size` threads.
void onRanks(int64_t size, const std::function<void(Transport &, const Group &)> &body) {
  std::vector<std::unique_ptr<Transport>> transports = makeLocalTransports(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Group group;
      for (int64_t i = 0; i < size; ++i)
        group.ranks.push_back(i);
      group.self = rank;
      body(*transports[rank], group);
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::byte *asBytes(void *data) { return static_cast<std::byte *>(data); }

float valueOf(int64_t rank, int64_t index) {
  return std::sin(static_cast<float>(rank * 1000 + index)) * (rank % 2 ? 1e4f : 1e-3f);
}

} // namespace

TEST_CASE("all-reduce sums in the order of the group, short and long") {
  for (int64_t count : {0, 1, 5, 4096, 4099, 70001})
    for (int64_t size : {1, 2, 3, 4}) {
      std::vector<std::vector<float>> results(size);
      onRanks(size, [&](Transport &transport, const Group &group) {
        std::vector<float> &mine = results[group.self];
        for (int64_t i = 0; i < count; ++i)
          mine.push_back(valueOf(group.self, i));
        Scratch scratch;
        runPhases(transport, allReduce(group, program::F32, plan::SUM, asBytes(mine.data()),
                                       asBytes(mine.data()), count, scratch));
      });
      for (int64_t i = 0; i < count; ++i) {
        float sum = valueOf(0, i);
        for (int64_t rank = 1; rank < size; ++rank)
          sum += valueOf(rank, i);
        for (int64_t rank = 0; rank < size; ++rank)
          if (results[rank][i] != sum)
            FAIL("element " << i << " of " << count << " on rank " << rank);
      }
    }
}

TEST_CASE("gather, scatter, all-to-all and permute move blocks") {
  constexpr int64_t n = 4, block = 3;
  std::vector<std::vector<int32_t>> gathered(n), scattered(n), exchanged(n), permuted(n);
  onRanks(n, [&](Transport &transport, const Group &group) {
    int64_t me = group.self;
    std::vector<int32_t> own(block), many(n * block);
    for (int64_t i = 0; i < block; ++i)
      own[i] = static_cast<int32_t>(me * 10 + i);
    for (int64_t i = 0; i < n * block; ++i)
      many[i] = static_cast<int32_t>(me * 100 + i);
    gathered[me].resize(n * block);
    runPhases(transport,
              allGather(group, asBytes(own.data()), asBytes(gathered[me].data()), block * 4));
    scattered[me].resize(block);
    Scratch scratch;
    runPhases(transport, reduceScatter(group, program::I32, plan::MAX, asBytes(many.data()),
                                       asBytes(scattered[me].data()), block, scratch));
    exchanged[me].resize(n * block);
    runPhases(transport,
              allToAll(group, asBytes(many.data()), asBytes(exchanged[me].data()), block * 4));
    permuted[me].resize(block);
    int64_t other = me % 2 * 2 + me / 2; // 0 1 2 3 → 0 2 1 3
    runPhases(transport, permute(me, other, other, asBytes(own.data()),
                                 asBytes(permuted[me].data()), block * 4));
  });
  for (int64_t me = 0; me < n; ++me)
    for (int64_t i = 0; i < block; ++i) {
      for (int64_t from = 0; from < n; ++from) {
        CHECK(gathered[me][from * block + i] == from * 10 + i);
        CHECK(exchanged[me][from * block + i] == from * 100 + me * block + i);
      }
      CHECK(scattered[me][i] == (n - 1) * 100 + me * block + i);
      CHECK(permuted[me][i] == (me % 2 * 2 + me / 2) * 10 + i);
    }
}

TEST_CASE("groups do not disturb each other") {
  constexpr int64_t n = 4;
  std::vector<int64_t> sums(n);
  onRanks(n, [&](Transport &transport, const Group &group) {
    int64_t me = group.self, value = 1 << me;
    Scratch scratch;
    for (int round = 0; round < 200; ++round) {
      Group rows{{me / 2 * 2, me / 2 * 2 + 1}, me % 2}, columns{{me % 2, me % 2 + 2}, me / 2};
      int64_t sum = value;
      for (const Group &part : {rows, columns})
        runPhases(transport, allReduce(part, program::I64, plan::SUM, asBytes(&sum), asBytes(&sum),
                                       1, scratch));
      sums[me] += sum;
    }
  });
  CHECK(sums == std::vector<int64_t>(n, 200 * 15));
}

TEST_CASE("short floats are reduced in f32 and rounded once") {
  // 1 + 2^-8 + 2^-8: each addition alone would round to 1 in bf16, whose next number is 1 + 2^-7.
  uint16_t one = floatToBfloat(1), small = floatToBfloat(0x1p-8f), result;
  reduceParts(program::BF16, plan::SUM, {asBytes(&one), asBytes(&small), asBytes(&small)},
              asBytes(&result), 1);
  CHECK(bfloatToFloat(result) == 1 + 0x1p-7f);
}

TEST_CASE("every type has its reductions") {
  int8_t a = 100, b = 100, sum;
  reduceParts(program::I8, plan::SUM, {asBytes(&a), asBytes(&b)}, asBytes(&sum), 1);
  CHECK(sum == -56);
  uint8_t yes = 1, no = 0, any;
  reduceParts(program::I1, plan::SUM, {asBytes(&yes), asBytes(&yes)}, asBytes(&any), 1);
  CHECK(any == 1);
  reduceParts(program::I1, plan::MIN, {asBytes(&yes), asBytes(&no)}, asBytes(&any), 1);
  CHECK(any == 0);
  double x = 3, nan = NAN, y;
  reduceParts(program::F64, plan::MAX, {asBytes(&x), asBytes(&nan)}, asBytes(&y), 1);
  CHECK(std::isnan(y));
  reduceParts(program::F64, plan::PROD, {asBytes(&x), asBytes(&x), asBytes(&x)}, asBytes(&y), 1);
  CHECK(y == 27);
}

TEST_CASE("a message of another size names both ranks") {
  std::string message;
  onRanks(2, [&](Transport &transport, const Group &group) {
    char bytes[8] = {};
    Send send{1, bytes, 8};
    Receive receive{0, bytes, 4};
    if (group.self == 0)
      return transport.exchange({&send, 1}, {});
    try {
      transport.exchange({}, {&receive, 1});
    } catch (const Error &error) {
      message = error.what();
    }
  });
  CHECK(message == "rank 0 sends 8 bytes where rank 1 expects 4");
}

TEST_CASE("an abort wakes those who wait") {
  std::vector<int> thrown(3);
  std::vector<std::string> messages(3);
  onRanks(3, [&](Transport &transport, const Group &group) {
    if (group.self == 0)
      return transport.abort({0, 5, "over", 0, ""});
    char byte;
    Receive receive{0, &byte, 1};
    Send send{0, &byte, 1};
    try {
      if (group.self == 1)
        transport.exchange({}, {&receive, 1});
      else
        transport.exchange({&send, 1}, {});
    } catch (const Error &) {
      thrown[group.self] = 1;
    }
    messages[group.self] = transport.getAbortReason()->message;
  });
  CHECK(messages[2] == "over");
  CHECK(thrown == std::vector<int>{0, 1, 1});
}

TEST_CASE("texts of all ranks are gathered") {
  std::vector<std::vector<std::string>> texts(3);
  onRanks(3, [&](Transport &transport, const Group &group) {
    texts[group.self] =
        gatherTexts(transport, std::string(group.self, static_cast<char>('a' + group.self)));
  });
  for (const std::vector<std::string> &got : texts)
    CHECK(got == std::vector<std::string>{"", "b", "cc"});
}
