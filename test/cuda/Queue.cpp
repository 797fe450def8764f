#include "test/cuda/Queue.h"

#include "test/cuda/Failure.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <thread>

namespace weft::test {

namespace {
constexpr int longestPause = 1000;                // microseconds
constexpr unsigned pauseOneIn = 4;                // items
constexpr std::chrono::milliseconds lookAgain(1); // whether a late stream is waited for by a peer
} // namespace

void Point::pass() {
  std::lock_guard guard(lock);
  done = true;
  time = Clock::now();
  passed.notify_all();
}

void Point::hasten() {
  if (std::shared_ptr<Queue> held = queue.lock())
    held->hasten(number);
}

bool Point::isDone() {
  hasten();
  std::lock_guard guard(lock);
  return done;
}

void Point::wait() {
  hasten();
  std::unique_lock guard(lock);
  passed.wait(guard, [this] { return done; });
}

Point::Clock::time_point Point::getTime() {
  std::lock_guard guard(lock);
  return time;
}

Queue::Queue(std::function<void(const std::function<void()> &)> run) : run(std::move(run)) {
  static std::atomic<unsigned> made = 0;
  const char *given = std::getenv("WEFT_STAND_IN_ORDER");
  std::string order = given ? given : "";
  isLate = order == "late";
  if (order.rfind("random:", 0) == 0)
    random.emplace(std::atoi(order.c_str() + 7) + made++);
  else if (!order.empty() && !isLate)
    report("WEFT_STAND_IN_ORDER is 'late' or 'random:SEED', got '" + order + "'");
}

void Queue::push(Item item) {
  std::lock_guard guard(lock);
  items.push_back(std::move(item));
  ++pushed;
  if (!isLate)
    changed.notify_all();
}

std::shared_ptr<Point> Queue::pushPoint() {
  std::lock_guard guard(lock);
  auto point = std::make_shared<Point>(weak_from_this(), ++pushed);
  items.push_back({{}, {}, point});
  if (!isLate)
    changed.notify_all();
  return point;
}

void Queue::hasten(uint64_t number) {
  std::lock_guard guard(lock);
  wanted = std::max(wanted, number);
  changed.notify_all();
}

bool Queue::isIdle() {
  std::lock_guard guard(lock);
  wanted = pushed;
  changed.notify_all();
  return finished == pushed;
}

void Queue::pause() {
  if (random && (*random)() % pauseOneIn == 0)
    std::this_thread::sleep_for(std::chrono::microseconds((*random)() % longestPause));
}

void Queue::perform(const Item &item) {
  if (item.passed)
    return item.passed->pass();
  if (item.awaited)
    return item.awaited->wait();
  pause();
  run(item.work);
}

bool Queue::mayGoOn() const {
  return items.empty() ? ending : !isLate || taken < wanted || AwaitedPeers::areAny();
}

void Queue::loop() {
  std::unique_lock guard(lock);
  while (true) {
    while (!mayGoOn())
      isLate ? void(changed.wait_for(guard, lookAgain)) : changed.wait(guard);
    if (items.empty())
      return;
    Item item = std::move(items.front());
    items.pop_front();
    ++taken;
    guard.unlock();
    perform(item);
    item = {};
    guard.lock();
    ++finished;
  }
}

void Queue::end() {
  std::lock_guard guard(lock);
  ending = true;
  wanted = std::numeric_limits<uint64_t>::max();
  changed.notify_all();
}

} // namespace weft::test
