//===- LaunchFailure.h - how a failed kernel is told ------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICE_LAUNCHFAILURE_H
#define WEFT_RUNTIME_DEVICE_LAUNCHFAILURE_H

#include "runtime/Device/Calls.h"

namespace weft::runtime {

/// What a kernel reports of a check that failed.
struct LaunchFailure {
  int64_t number = 0;   ///< index into LaunchCall::checks; -1: there is no memory
  int64_t value = 0;    ///< that was found; of -1, the bytes that are not there
  int64_t position = 0; ///< where it was found
};

/// Throws the Error of a launch, the same on every device: of kind BadInput for a value out of its
/// bounds, else of kind Failure.
[[noreturn]] void throwLaunchFailure(const LaunchCall &call, const LaunchFailure &failure);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_LAUNCHFAILURE_H
