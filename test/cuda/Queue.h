//===- Queue.h - what a stream is to do -------------------------*- C++ -*-===//
//
// A stream's thread does what is enqueued in order. When it does is set by WEFT_STAND_IN_ORDER:
//
//   at once      the default
//   late         when somebody waits for it, or asks whether it is done, or while some stream's
//                work waits for what other streams are to do (NCCL): as late as may be
//   random:SEED  at once, with random pauses
//
// A host that reads a result without having waited for it, or reuses memory that a copy still
// needs, gets wrong numbers for certain if streams are late.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_QUEUE_H
#define WEFT_TEST_CUDA_QUEUE_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

namespace weft::test {

class Queue;

/// A place in a queue: one recording of an event, or the end of what was enqueued.
class Point {
public:
  using Clock = std::chrono::steady_clock;

  Point(std::weak_ptr<Queue> queue, uint64_t number) : queue(std::move(queue)), number(number) {}

  /// Said by the queue when it gets there.
  void pass();
  /// Makes the queue get there.
  bool isDone();
  void wait();
  /// Of a point that is done.
  Clock::time_point getTime();

private:
  void hasten();

  std::weak_ptr<Queue> queue;
  uint64_t number; ///< in the queue
  std::mutex lock; ///< of what follows
  std::condition_variable passed;
  bool done = false;
  Clock::time_point time;
};

/// While it lives, no stream is late.
class AwaitedPeers {
public:
  AwaitedPeers() { ++count; }
  ~AwaitedPeers() { --count; }
  AwaitedPeers(const AwaitedPeers &) = delete;
  AwaitedPeers &operator=(const AwaitedPeers &) = delete;

  static bool areAny() { return count > 0; }

private:
  static inline std::atomic<int> count = 0;
};

class Queue : public std::enable_shared_from_this<Queue> {
public:
  /// `run` does each piece of work: it knows of failures.
  explicit Queue(std::function<void(const std::function<void()> &)> run);

  void push(std::function<void()> work) { push(Item{std::move(work), {}, {}}); }
  void pushWait(std::shared_ptr<Point> point) { push(Item{{}, std::move(point), {}}); }
  std::shared_ptr<Point> pushPoint();
  /// Somebody waits for everything up to and with `number`.
  void hasten(uint64_t number);
  /// Whether all is done; makes the queue get there.
  bool isIdle();

  /// The thread's loop, until all is done after end().
  void loop();
  void end();

private:
  struct Item {
    std::function<void()> work;     ///< or
    std::shared_ptr<Point> awaited; ///< or
    std::shared_ptr<Point> passed;
  };

  void push(Item item);
  bool mayGoOn() const;
  void perform(const Item &item);
  void pause();

  std::function<void(const std::function<void()> &)> run;
  bool isLate = false;
  std::optional<std::mt19937> random;
  std::mutex lock; ///< of what follows
  std::condition_variable changed;
  std::deque<Item> items;
  uint64_t pushed = 0, taken = 0, finished = 0, wanted = 0; ///< items
  bool ending = false;
};

} // namespace weft::test

#endif // WEFT_TEST_CUDA_QUEUE_H
