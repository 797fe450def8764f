//===- CommunicationQueueTest.cpp - communication beside computation ------===//

#include "runtime/Collective/CommunicationQueue.h"
#include "runtime/Collective/Local/LocalTransport.h"
#include "runtime/Support/Error.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>

using namespace weft::runtime;
namespace program = weft::program;
namespace plan = weft::plan;

namespace {

/// Runs `body(transport, queue, group of all)` on `size` threads.
void onRanks(int64_t size,
             const std::function<void(Transport &, CommunicationQueue &, const Group &)> &body) {
  std::vector<std::unique_ptr<Transport>> transports = makeLocalTransports(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Group group{std::vector<int64_t>(size), rank};
      std::iota(group.ranks.begin(), group.ranks.end(), 0);
      CommunicationQueue queue(*transports[rank]);
      body(*transports[rank], queue, group);
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::byte *asBytes(void *data) { return static_cast<std::byte *>(data); }

/// Whether it is done within two seconds without anybody waiting for it in the queue.
bool isSoon(const std::function<bool()> &done) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!done() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return done();
}

} // namespace

TEST_CASE("collectives that are begun together give what they give one by one") {
  constexpr int64_t n = 3, count = 20000, many = 12;
  std::vector<int> wrong(n);
  onRanks(n, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    std::vector<std::vector<float>> values(many);
    std::vector<Scratch> scratch(many);
    std::vector<CommunicationQueue::Handle> handles;
    for (int64_t i = 0; i < many; ++i) {
      values[i].assign(i % 2 ? count : 7, static_cast<float>(group.self * 100 + i));
      std::byte *data = asBytes(values[i].data());
      handles.push_back(queue.beginCollective(
          allReduce(group, program::F32, plan::SUM, data, data, values[i].size(), scratch[i])));
    }
    float sum = static_cast<float>(group.self), total = 0; // one that is done at once, between them
    Scratch own;
    queue.runCollective(
        allReduce(group, program::F32, plan::SUM, asBytes(&sum), asBytes(&total), 1, own));
    wrong[group.self] += total != 3;
    for (int64_t i = many; i-- > 0;)
      queue.wait(handles[i]);
    for (int64_t i = 0; i < many; ++i)
      for (float value : values[i])
        wrong[group.self] += value != static_cast<float>(300 + 3 * i);
  });
  CHECK(wrong == std::vector<int>(n, 0));
}

TEST_CASE("a collective moves on while its ranks compute") {
  constexpr int64_t n = 2, count = 100000;
  std::vector<int> arrived(n);
  onRanks(n, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    std::vector<float> in(count, 1), out(count);
    Scratch scratch;
    Phases phases = allReduce(group, program::F32, plan::SUM, asBytes(in.data()),
                              asBytes(out.data()), count, scratch);
    std::atomic<bool> over = false;
    phases.push_back({{}, {}, [&] { over = true; }});
    CommunicationQueue::Handle handle = queue.beginCollective(std::move(phases));
    arrived[group.self] = isSoon([&] { return over.load(); });
    queue.wait(handle);
  });
  CHECK(arrived == std::vector<int>(n, 1));
}

TEST_CASE("messages find their receiver by tag, in any order") {
  std::vector<int> got(3);
  onRanks(2, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    int values[3] = {10, 20, 30};
    std::vector<CommunicationQueue::Handle> handles;
    if (group.self == 0) {
      for (int64_t tag : {3, 1, 2})
        handles.push_back(queue.beginMessages({{1, &values[tag - 1], sizeof(int), tag}}, {}));
    } else {
      for (int64_t tag : {1, 2, 3})
        handles.push_back(queue.beginMessages({}, {{0, &got[tag - 1], sizeof(int), tag}}));
    }
    for (const CommunicationQueue::Handle &handle : handles)
      queue.wait(handle);
  });
  CHECK(got == std::vector<int>{10, 20, 30});
}

TEST_CASE("messages of one tag arrive in the order in which they were sent") {
  constexpr int many = 100;
  std::vector<int> got(many);
  onRanks(2, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    std::vector<int> values(many);
    std::iota(values.begin(), values.end(), 0);
    std::vector<CommunicationQueue::Handle> handles;
    for (int i = 0; i < many; ++i)
      handles.push_back(group.self == 0 ? queue.beginMessages({{1, &values[i], sizeof(int), 5}}, {})
                                        : queue.beginMessages({}, {{0, &got[i], sizeof(int), 5}}));
    for (const CommunicationQueue::Handle &handle : handles)
      queue.wait(handle);
  });
  for (int i = 0; i < many; ++i)
    CHECK(got[i] == i);
}

TEST_CASE("messages overtake a collective that others are late for") {
  // Rank 0 begins an all-reduce with rank 1, which first waits for rank 0's message by way of
  // rank 2.
  std::vector<float> sums(2);
  onRanks(3, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    int64_t me = group.self;
    float value = static_cast<float>(me + 1);
    Group pair{{0, 1}, me};
    Scratch scratch;
    auto reduce = [&] {
      return queue.beginCollective(allReduce(pair, program::F32, plan::SUM, asBytes(&value),
                                             asBytes(&sums[me]), 1, scratch));
    };
    float token = 0;
    if (me == 0) {
      CommunicationQueue::Handle begun = reduce();
      queue.wait(queue.beginMessages({{2, &token, sizeof(token), 1}}, {}));
      queue.wait(begun);
    } else if (me == 2) {
      queue.wait(queue.beginMessages({}, {{0, &token, sizeof(token), 1}}));
      queue.wait(queue.beginMessages({{1, &token, sizeof(token), 1}}, {}));
    } else {
      queue.wait(queue.beginMessages({}, {{2, &token, sizeof(token), 1}}));
      queue.wait(reduce());
    }
  });
  CHECK(sums == std::vector<float>{3, 3});
}

TEST_CASE("a collective of another lane overtakes one that others are late for") {
  // Rank 0 reduces with rank 1, which comes only when ranks 0 and 2 are done with what they begin
  // behind it.
  std::vector<float> sums(3);
  std::atomic<bool> over = false;
  onRanks(3, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    int64_t me = group.self;
    float value = static_cast<float>(me + 1), other = 0;
    Scratch first, second;
    auto reduce = [&](Group pair, float &sum, Scratch &scratch, int32_t lane) {
      return queue.beginCollective(
          allReduce(pair, program::F32, plan::SUM, asBytes(&value), asBytes(&sum), 1, scratch),
          lane);
    };
    if (me == 2)
      return queue.wait(reduce({{0, 2}, 1}, sums[2], second, 1));
    if (me == 1) {
      over.wait(false);
      return queue.wait(reduce({{0, 1}, 1}, sums[1], first, 0));
    }
    CommunicationQueue::Handle late = reduce({{0, 1}, 0}, sums[0], first, 0);
    queue.wait(reduce({{0, 2}, 0}, other, second, 1));
    over = true;
    over.notify_all();
    queue.wait(late);
    sums[0] = 10 * sums[0] + other;
  });
  CHECK(sums == std::vector<float>{34, 3, 4});
}

TEST_CASE("lanes between the same ranks are told apart") {
  constexpr int64_t n = 2, many = 20;
  std::vector<int> wrong(n);
  onRanks(n, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    std::vector<float> values(many), sums(many);
    std::vector<Scratch> scratch(many);
    std::vector<CommunicationQueue::Handle> handles;
    for (int64_t i = 0; i < many; ++i) { // each rank begins another lane first
      int64_t number = group.self == 0 ? i : i ^ 1;
      values[number] = static_cast<float>(number);
      handles.push_back(
          queue.beginCollective(allReduce(group, program::F32, plan::SUM, asBytes(&values[number]),
                                          asBytes(&sums[number]), 1, scratch[number]),
                                static_cast<int32_t>(number % 2)));
    }
    for (const CommunicationQueue::Handle &handle : handles)
      queue.wait(handle);
    for (int64_t i = 0; i < many; ++i)
      wrong[group.self] += sums[i] != static_cast<float>(2 * i);
  });
  CHECK(wrong == std::vector<int>(n, 0));
}

TEST_CASE("what is wrong with a message is told where it is waited for") {
  std::string message;
  onRanks(2, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    char bytes[8] = {};
    if (group.self == 0)
      return queue.wait(queue.beginMessages({{1, bytes, 8, 4}}, {}));
    CommunicationQueue::Handle handle = queue.beginMessages({}, {{0, bytes, 4, 4}});
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // the queue's thread finds it
    try {
      queue.wait(handle);
    } catch (const Error &error) {
      message = error.what();
    }
  });
  CHECK(message == "rank 0 sends 8 bytes where rank 1 expects 4");
}

TEST_CASE("an abort ends what is under way, and its memory may go") {
  std::vector<int> thrown(2);
  onRanks(2, [&](Transport &transport, CommunicationQueue &queue, const Group &group) {
    if (group.self == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return transport.abort({0, 5, "over", 0, ""});
    }
    std::vector<char> bytes(1 << 16);
    CommunicationQueue own(transport);
    CommunicationQueue::Handle handle = own.beginMessages({{0, bytes.data(), bytes.size(), 9}}, {});
    try {
      own.wait(handle);
    } catch (const Error &) {
      thrown[1] = 1;
    }
  });
  CHECK(thrown == std::vector<int>{0, 1});
}
