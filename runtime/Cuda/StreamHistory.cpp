//===- StreamHistory.cpp - which launches an event comes after ------------===//

#include "runtime/Cuda/StreamHistory.h"

#include "runtime/Device/LaunchFailure.h"

#include <atomic>

namespace weft::runtime {

WatchedLaunch::WatchedLaunch(CheckSlots &slots, const LaunchCall &given)
    : slots(slots), slot(slots.take()) {
  call.kernel = given.kernel;
  call.checks = given.checks;
}

std::exception_ptr WatchedLaunch::takeFailure() {
  std::atomic_ref<int64_t> state(slot.report->state);
  if (state.load(std::memory_order_acquire) == 0)
    return nullptr;
  CheckReport report = *slot.report;
  state.store(0, std::memory_order_relaxed);
  try {
    throwLaunchFailure(call, {report.number, report.value, report.position});
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr HistoryPoint::findFailure() const {
  return history ? history->findFailure(number) : nullptr;
}

void StreamHistory::add(const HistoryPoint &point) {
  if (point.history && point.history.get() != this)
    entries.push_back({nullptr, point});
}

std::exception_ptr StreamHistory::findFailure(uint64_t number) {
  while (begin < number && !entries.empty()) {
    Entry entry = std::move(entries.front());
    entries.pop_front();
    uint64_t at = begin++; // before other lists are looked at, which may name this one
    // Launches behind one that failed are looked at, too: what they report is not their next run's.
    std::exception_ptr found =
        entry.launch ? entry.launch->takeFailure() : entry.point.findFailure();
    if (failure)
      continue;
    failure = std::move(found);
    failedAt = at;
  }
  return failure && failedAt < number ? failure : nullptr;
}

void StreamHistory::close() {
  begin += entries.size();
  entries.clear();
}

} // namespace weft::runtime
