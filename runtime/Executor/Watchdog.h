//===- Watchdog.h - a rank's heartbeat --------------------------*- C++ -*-===//
//
// A thread of its own tells the other ranks that this one is alive, watches one or all of them, and
// bounds a step where the user asked for it. It looks at heartbeats, never at the length of an
// instruction. When a run is to end and the rank is a process of its own, the watchdog ends it:
// the rank's thread may be anywhere. One rank tells why: what happens to the others happens because
// of it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_WATCHDOG_H
#define WEFT_RUNTIME_EXECUTOR_WATCHDOG_H

#include "runtime/Collective/Transport.h"
#include "runtime/Executor/RankLocation.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace weft::runtime {

struct WatchLimits {
  double silence = 5;     ///< seconds without a heartbeat after which a rank counts as lost
  double stepSeconds = 0; ///< longest step; 0: no bound
};

class Watchdog {
public:
  Watchdog(Transport &transport, const RankLocation &location, WatchLimits limits);
  ~Watchdog();

private:
  void watch();
  void look();

  Transport &transport;
  const RankLocation &location;
  WatchLimits limits;
  std::mutex lock; ///< of `ending`
  std::condition_variable ended;
  bool ending = false;
  std::thread thread;
};

/// "rank 2: no kernel 'k', in step 3, instruction 17, GEMM of 'h0.up'".
std::string describe(const AbortReason &reason);

/// Waits for the watchdog to end the process of a rank that failed: it is the one that knows of the
/// others' failures.
[[noreturn]] void waitForEnd();

/// Makes SIGTERM, by which launchers end the ranks that survive a dead one, say where the rank was;
/// exit code 5.
void reportPlaceOnTerminate(const RankLocation &location);

/// From here on the rank ends by itself: a launcher that hurries it on, because another rank was
/// faster to end with a code other than 0, is not heeded.
void ignoreTerminate();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_WATCHDOG_H
