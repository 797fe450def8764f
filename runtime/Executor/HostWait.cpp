#include "runtime/Executor/HostWait.h"

#include "runtime/Support/Error.h"

namespace weft::runtime {

namespace {
constexpr double lookSeconds = 0.01; // between looks at whether the run goes on
} // namespace

void HostWait::forEvent(Event &event) {
  while (!event.wait(lookSeconds))
    if (transport.getAbortReason())
      throwFailure("stopped while waiting for the device");
}

void HostWait::forStream(Stream &stream) {
  stream.record(*point);
  forEvent(*point);
}

} // namespace weft::runtime
