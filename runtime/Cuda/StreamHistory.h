//===- StreamHistory.h - which launches an event comes after ----*- C++ -*-===//
//
// A failed check ends no kernel's stream: the kernel reports in its slot (CheckSlots.h) and the
// stream goes on. Whoever waits for an event recorded after it is to get its Error, and nobody who
// waits for an earlier one. So every stream keeps a list of its launches in the order in which they
// were enqueued, and an event knows how far the list went when it was recorded:
//
//   list of the stream    L0  L1  L2 | L3  L4 | L5
//   events                           e        f
//
// When e is found done, the slots of L0, L1 and L2 are looked at and leave the list; when f is,
// those of L3 and L4. Each enqueued launch is looked at once, in host memory, however many events
// and launches a program has; so launches without checks are watched too, which fail where a kernel
// has no memory to sort in. A stream that waits for another's event has that event's place in its
// list, and what failed there failed here.
//
// A command that was enqueued twice has one slot for both: an event between the two may tell the
// failure of the second, where that has run meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_STREAMHISTORY_H
#define WEFT_RUNTIME_CUDA_STREAMHISTORY_H

#include "runtime/Cuda/CheckSlots.h"
#include "runtime/Device/Calls.h"

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>

namespace weft::runtime {

/// A launch command's slot, with what makes an Error of its report; kept by lists that name it.
class WatchedLaunch {
public:
  /// `call` without its operands is kept.
  WatchedLaunch(CheckSlots &slots, const LaunchCall &call);
  ~WatchedLaunch() { slots.giveBack(slot); }
  WatchedLaunch(const WatchedLaunch &) = delete;
  WatchedLaunch &operator=(const WatchedLaunch &) = delete;

  CUdeviceptr getSlotAddress() const { return slot.address; }
  /// The Error that the CPU throws, or null where no check has failed, and clears the slot; of a
  /// launch that is done.
  std::exception_ptr takeFailure();

private:
  CheckSlots &slots;
  CheckSlot slot;
  LaunchCall call; ///< its name and checks
};

class StreamHistory;

/// A place in a stream's list: behind the launches with lower numbers. Default: before everything.
struct HistoryPoint {
  std::shared_ptr<StreamHistory> history;
  uint64_t number = 0;

  /// The Error of the first launch before the place that failed, or null; the stream has passed it.
  std::exception_ptr findFailure() const;
};

class StreamHistory {
public:
  void add(std::shared_ptr<WatchedLaunch> launch) { entries.push_back({std::move(launch), {}}); }
  /// The stream waits for another.
  void add(const HistoryPoint &point);
  uint64_t getNumber() const { return begin + entries.size(); }
  /// See HistoryPoint.
  std::exception_ptr findFailure(uint64_t number);
  /// The stream has ended: nothing that it held is looked at any more.
  void close();

private:
  struct Entry {
    std::shared_ptr<WatchedLaunch> launch; ///< or
    HistoryPoint point;
  };

  std::deque<Entry> entries; ///< those that are not known to be done
  uint64_t begin = 0;        ///< number of the first of them
  std::exception_ptr failure;
  uint64_t failedAt = 0; ///< number of the launch that failed first, if one has
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_STREAMHISTORY_H
