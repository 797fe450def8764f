//===- HostWait.h - a rank's thread waits for its device --------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_HOSTWAIT_H
#define WEFT_RUNTIME_EXECUTOR_HOSTWAIT_H

#include "runtime/Collective/Transport.h"
#include "runtime/Device/Device.h"

namespace weft::runtime {

/// Every wait of the host for a stream goes through here: it ends where the run is aborted, with an
/// Error of kind Failure, and throws the Errors of commands that failed.
class HostWait {
public:
  HostWait(Device &device, Transport &transport)
      : transport(transport), point(device.makeEvent()) {}

  void forEvent(Event &event);
  /// For all that is enqueued.
  void forStream(Stream &stream);

private:
  Transport &transport;
  std::unique_ptr<Event> point;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_HOSTWAIT_H
