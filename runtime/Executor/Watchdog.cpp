//===- Watchdog.cpp - a rank's heartbeat ----------------------------------===//

#include "runtime/Executor/Watchdog.h"

#include "runtime/Support/Console.h"

#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

namespace weft::runtime {

namespace {

constexpr auto beatPeriod = std::chrono::milliseconds(100);
constexpr auto lastMoment =
    std::chrono::milliseconds(400); // for others to hear of the end and say where they are

std::atomic<bool> ended = false;
const Place *terminatedPlace = nullptr;

void onTerminate(int) {
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
  if (!ended.exchange(true))
    (void)!write(STDERR_FILENO, text, length);
  _exit(5);
}

} // namespace

void endProcess(const AbortReason &reason, const Place &place) {
  if (ended.exchange(true)) // another thread is about to end the process
    while (true)
      std::this_thread::sleep_for(lastMoment);
  if (reason.rank == place.getRank())
    printError("weft: rank {}: {}, {}\n", reason.rank, reason.message, place.describe());
  else
    printError("weft: rank {}: ended because of rank {} ({}), {}\n", place.getRank(), reason.rank,
               reason.message, place.describe());
  std::this_thread::sleep_for(lastMoment);
  _exit(reason.exitCode);
}

void reportPlaceOnTerminate(const Place &place) {
  terminatedPlace = &place;
  struct sigaction action{};
  action.sa_handler = onTerminate;
  sigaction(SIGTERM, &action, nullptr);
}

void ignoreTerminate() { std::signal(SIGTERM, SIG_IGN); }

Watchdog::Watchdog(Transport &transport, const Place &place, WatchLimits limits)
    : transport(transport), place(place), limits(limits), thread([this] { watch(); }) {}

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
    transport.beat();
    look();
    guard.lock();
    ended.wait_for(guard, beatPeriod, [this] { return ending; });
  }
}

void Watchdog::look() {
  if (std::optional<AbortReason> reason = transport.getAbortReason()) {
    if (transport.ownsProcess())
      endProcess(*reason, place);
    return;
  }
  if (std::optional<int64_t> silent = transport.findSilent(limits.silence))
    transport.abort(
        {*silent, 5,
         fmt::format("no heartbeat for {:.0f} s: it is stopped or lost", limits.silence)});
  else if (limits.stepSeconds > 0 && place.getStepSeconds() > limits.stepSeconds)
    transport.abort({place.getRank(), 5,
                     fmt::format("the step took longer than --timeout {}", limits.stepSeconds)});
}

} // namespace weft::runtime
