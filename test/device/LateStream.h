//===- LateStream.h - streams that lag behind -------------------*- C++ -*-===//
//
// A stream has a thread of its own, which does what is enqueued either at random moments or as late
// as it may: when somebody waits for it. Whoever reads a result without having waited for it, or
// reuses memory that a copy still needs, finds out.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_DEVICE_LATESTREAM_H
#define WEFT_TEST_DEVICE_LATESTREAM_H

#include "runtime/Device/Device.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

namespace weft::test {

/// When streams work: at random moments drawn from a seed; without one, when they are waited for.
using Lateness = std::optional<unsigned>;

class LateQueue;

/// One recording of an event.
class Point {
public:
  using Clock = std::chrono::steady_clock;

  Point(std::weak_ptr<LateQueue> queue, uint64_t number)
      : queue(std::move(queue)), number(number) {}

  /// Said by the queue when it gets there, with the failure that it came to grief by before.
  void pass(std::exception_ptr why);
  bool isDone();
  /// Makes the queue get there and waits; returns whether it has.
  bool wait(double seconds);
  /// Of a point that is done.
  std::exception_ptr getFailure();
  Clock::time_point getTime();

private:
  void hasten();

  std::weak_ptr<LateQueue> queue;
  uint64_t number; ///< in the queue
  std::mutex lock; ///< of what follows
  std::condition_variable passed;
  bool done = false;
  int looks = 0;
  std::exception_ptr failure;
  Clock::time_point time;
};

/// What a stream is to do; kept by its points, too.
class LateQueue : public std::enable_shared_from_this<LateQueue> {
public:
  explicit LateQueue(Lateness lateness) : lateness(lateness), random(lateness.value_or(0)) {}

  void push(std::function<void()> work);
  void pushWait(std::shared_ptr<Point> point);
  std::shared_ptr<Point> pushPoint();
  /// Somebody waits for everything up to and with `number`.
  void hasten(uint64_t number);

  /// The thread's loop, until end().
  void run();
  void end();

private:
  struct Item {
    std::function<void()> work;     ///< or
    std::shared_ptr<Point> awaited; ///< or
    std::shared_ptr<Point> passed;
  };

  void push(Item item);
  void perform(const Item &item);
  void delay();

  Lateness lateness;
  std::mt19937 random;
  std::mutex lock; ///< of what follows, but for `failure`
  std::condition_variable changed;
  std::deque<Item> items;
  uint64_t pushed = 0, taken = 0, wanted = 0; ///< items
  bool ending = false;
  std::exception_ptr failure; ///< of the thread
};

class LateEvent : public runtime::Event {
public:
  bool isDone() const override { return !point || point->isDone(); }
  bool wait(double seconds) override;
  double getSecondsSince(const Event &earlier) const override;

  std::shared_ptr<Point> point; ///< none: never recorded
};

/// The queue and its thread. `begin` is called on the thread before all else.
class LateStream : public runtime::Stream {
public:
  LateStream(Lateness lateness, const std::function<void()> &begin);
  ~LateStream() override;

  void enqueue(std::function<void()> work) { queue->push(std::move(work)); }
  void record(runtime::Event &event) override;
  void wait(const runtime::Event &event) override;

private:
  std::shared_ptr<LateQueue> queue;
  std::thread thread;
};

} // namespace weft::test

#endif // WEFT_TEST_DEVICE_LATESTREAM_H
