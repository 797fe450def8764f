#include "test/device/LateStream.h"

#include "runtime/Support/Error.h"

namespace weft::test {

using namespace weft::runtime;

namespace {
constexpr int mostLooks = 1000; // at a point that nobody waits for: who looks again and again waits
constexpr int longestDelay = 1000; // microseconds
constexpr unsigned delayOneIn = 4; // items
} // namespace

void Point::pass(std::exception_ptr why) {
  std::lock_guard guard(lock);
  done = true;
  failure = std::move(why);
  time = Clock::now();
  passed.notify_all();
}

void Point::hasten() {
  if (std::shared_ptr<LateQueue> held = queue.lock())
    held->hasten(number);
}

bool Point::isDone() {
  bool waiting;
  {
    std::lock_guard guard(lock);
    if (done)
      return true;
    waiting = ++looks > mostLooks;
  }
  if (waiting)
    hasten();
  return false;
}

bool Point::wait(double seconds) {
  hasten();
  std::unique_lock guard(lock);
  return passed.wait_for(guard, std::chrono::duration<double>(seconds), [this] { return done; });
}

std::exception_ptr Point::getFailure() {
  std::lock_guard guard(lock);
  return failure;
}

Point::Clock::time_point Point::getTime() {
  std::lock_guard guard(lock);
  return time;
}

void LateQueue::push(Item item) {
  std::lock_guard guard(lock);
  items.push_back(std::move(item));
  ++pushed;
  if (lateness)
    changed.notify_all();
}

void LateQueue::push(std::function<void()> work) { push(Item{std::move(work), {}, {}}); }

void LateQueue::pushWait(std::shared_ptr<Point> point) { push(Item{{}, std::move(point), {}}); }

std::shared_ptr<Point> LateQueue::pushPoint() {
  auto point = std::make_shared<Point>(weak_from_this(), pushed + 1);
  push(Item{{}, {}, point});
  return point;
}

void LateQueue::hasten(uint64_t number) {
  std::lock_guard guard(lock);
  wanted = std::max(wanted, number);
  changed.notify_all();
}

void LateQueue::delay() {
  if (lateness && random() % delayOneIn == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random() % longestDelay));
}

void LateQueue::perform(const Item &item) {
  if (item.passed)
    return item.passed->pass(failure);
  if (failure)
    return;
  if (item.awaited) {
    while (!item.awaited->wait(1))
      ;
    failure = item.awaited->getFailure();
    return;
  }
  delay();
  try {
    item.work();
  } catch (...) {
    failure = std::current_exception();
  }
}

void LateQueue::run() {
  std::unique_lock guard(lock);
  while (true) {
    changed.wait(guard, [&] { return ending || (!items.empty() && (lateness || taken < wanted)); });
    if (ending)
      break;
    Item item = std::move(items.front());
    items.pop_front();
    ++taken;
    guard.unlock();
    perform(item);
    item = {};
    guard.lock();
  }
  auto ended = std::make_exception_ptr(Error(ErrorKind::Failure, "the stream has ended"));
  for (const Item &item : items)
    if (item.passed)
      item.passed->pass(failure ? failure : ended);
}

void LateQueue::end() {
  std::lock_guard guard(lock);
  ending = true;
  changed.notify_all();
}

bool LateEvent::wait(double seconds) {
  if (!point)
    return true;
  if (!point->wait(seconds))
    return false;
  if (std::exception_ptr failure = point->getFailure())
    std::rethrow_exception(failure);
  return true;
}

double LateEvent::getSecondsSince(const Event &earlier) const {
  auto begin = static_cast<const LateEvent &>(earlier).point->getTime();
  return std::chrono::duration<double>(point->getTime() - begin).count();
}

LateStream::LateStream(Lateness lateness, const std::function<void()> &begin)
    : queue(std::make_shared<LateQueue>(lateness)), thread([queue = queue, begin] {
        begin();
        queue->run();
      }) {}

LateStream::~LateStream() {
  queue->end();
  thread.join();
}

void LateStream::record(Event &event) {
  static_cast<LateEvent &>(event).point = queue->pushPoint();
}

void LateStream::wait(const Event &event) {
  if (const auto &point = static_cast<const LateEvent &>(event).point)
    queue->pushWait(point);
}

} // namespace weft::test
