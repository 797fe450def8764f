//===- Watchdog.cpp - a rank's heartbeat ----------------------------------===//

#include "runtime/Executor/Watchdog.h"

#include "runtime/Support/Console.h"
#include "runtime/Support/OutputFile.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace weft::runtime {

namespace {

constexpr auto heartbeatPeriod = std::chrono::milliseconds(100);
// Ranks may fail in the same moment, for the same reason: each has heard of the others by then.
constexpr auto settling = std::chrono::milliseconds(250);
// For all to end by themselves, before the launcher hears of the first that did.
constexpr auto lastMoment = std::chrono::milliseconds(400);

const RankLocation *terminatedPlace = nullptr;

/// Beats are late where the process was stopped: it is the dead rank of which others tell, and has
/// nothing to say when the launcher ends it. Read in a signal handler.
class HeartbeatTimes {
public:
  void record() {
    stopped = wasStopped();
    last = now();
  }
  bool wasStopped() const { return stopped || (last != 0 && now() - last > longestGap); }

private:
  static constexpr int64_t longestGap = 2'000'000'000;
  static int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  }

  std::atomic<int64_t> last = 0; ///< nanoseconds
  std::atomic<bool> stopped = false;
};
HeartbeatTimes heartbeatTimes;

void onTerminate(int) {
  removeStagedFiles();
  if (heartbeatTimes.wasStopped())
    _exit(5);
  char text[640] = "weft: rank ";
  size_t length = __builtin_strlen(text);
  char digits[24];
  int count = 0;
  int64_t rank = terminatedPlace->getRank();
  do
    digits[count++] = static_cast<char>('0' + rank % 10);
  while (rank /= 10);
  while (count > 0)
    text[length++] = digits[--count];
  for (const char *more = ": ended by the launcher, because another rank died, "; *more; ++more)
    text[length++] = *more;
  length += terminatedPlace->describe(text + length, sizeof(text) - length - 1);
  text[length++] = '\n';
  (void)!write(STDERR_FILENO, text, length);
  // mpirun waits before it kills, but only until the first rank that it asked to end has done so.
  (void)::poll(nullptr, 0, static_cast<int>(lastMoment.count()));
  _exit(5);
}

/// Says why the run ends, if this rank is the one to tell, and ends the process.
[[noreturn]] void endProcess(Transport &transport, const RankLocation &location) {
  ignoreTerminate();
  for (auto end = RankLocation::Clock::now() + settling; RankLocation::Clock::now() < end;) {
    transport.sendHeartbeat(); // takes in what others announce
    std::this_thread::sleep_for(heartbeatPeriod / 10);
  }
  AbortReason reason = *transport.getAbortReason();
  if (reason.reporter == location.getRank())
    printError("weft: {}\n", describe(reason));
  removeStagedFiles();
  std::this_thread::sleep_for(lastMoment);
  _exit(reason.exitCode);
}

} // namespace

std::string describe(const AbortReason &reason) {
  std::string where = reason.where;
  if (reason.rank != reason.reporter)
    where = fmt::format("rank {}, which watches it, is {}", reason.reporter, where);
  return fmt::format("rank {}: {}, {}", reason.rank, reason.message, where);
}

void waitForEnd() {
  while (true)
    std::this_thread::sleep_for(lastMoment);
}

void reportPlaceOnTerminate(const RankLocation &location) {
  terminatedPlace = &location;
  struct sigaction action{};
  action.sa_handler = onTerminate;
  sigaction(SIGTERM, &action, nullptr);
}

void ignoreTerminate() { std::signal(SIGTERM, SIG_IGN); }

Watchdog::Watchdog(Transport &transport, const RankLocation &location, WatchLimits limits)
    : transport(transport), location(location), limits(limits), thread([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard guard(lock);
    ending = true;
  }
  ended.notify_all();
  thread.join();
}

void Watchdog::watch() {
  std::unique_lock guard(lock);
  while (!ending) {
    guard.unlock();
    heartbeatTimes.record();
    transport.sendHeartbeat();
    look();
    guard.lock();
    ended.wait_for(guard, heartbeatPeriod, [this] { return ending; });
  }
}

void Watchdog::look() {
  auto abort = [&](int64_t rank, const std::string &message) {
    transport.abort({rank, 5, message, location.getRank(), location.describe()});
  };
  if (transport.getAbortReason()) {
    if (transport.ownsProcess())
      endProcess(transport, location);
    return;
  }
  if (std::optional<int64_t> silent = transport.findSilent(limits.silence))
    abort(*silent, fmt::format("no heartbeat for {:.0f} s: it is stopped or lost", limits.silence));
  else if (limits.stepSeconds > 0 && location.getStepSeconds() > limits.stepSeconds)
    abort(location.getRank(),
          fmt::format("the step took longer than --timeout {}", limits.stepSeconds));
}

} // namespace weft::runtime
