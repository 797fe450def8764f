//===- Progress.h - which instruction a device is at ------------*- C++ -*-===//
//
// The host enqueues instructions faster than a device does them. An event after each tells how far
// the device is: a failure, or a wait that never ends, is put down to the instruction that the
// device is at, not to the one that the host is at, and each instruction gets its own time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_PROGRESS_H
#define WEFT_RUNTIME_EXECUTOR_PROGRESS_H

#include "runtime/Executor/HostWait.h"
#include "runtime/Executor/RankLocation.h"

#include <deque>
#include <vector>

namespace weft::runtime {

class Progress {
public:
  /// An instruction that was enqueued.
  struct Enqueued {
    int64_t number;    ///< in its segment
    const char *label; ///< of the place
    double *seconds;   ///< to which the device's time for it is added
  };

  Progress(Device &device, Stream &stream, HostWait &wait, RankLocation &location);

  /// Time counts from here; nothing may be under way.
  void begin();
  /// To be called after each instruction. Waits only where the device is very far behind.
  void passed(const Enqueued &instruction);
  /// Waits for all of them, the place at the one that the device is at.
  void catchUp();

private:
  struct Pending {
    Enqueued instruction;
    Event *event;
  };

  void waitForFirst();

  Stream &stream;
  HostWait &wait;
  RankLocation &location;
  std::vector<std::unique_ptr<Event>> events; ///< used in turn
  size_t next = 0;
  Event *last = nullptr; ///< the latest that is done
  std::deque<Pending> pending;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_PROGRESS_H
