//===- LaunchFailure.cpp - how a failed kernel is told --------------------===//

#include "runtime/Device/LaunchFailure.h"

#include "runtime/Support/Error.h"

namespace weft::runtime {

void throwLaunchFailure(const LaunchCall &call, const LaunchFailure &failure) {
  if (failure.number == -1)
    throwFailure("kernel '{}' finds no memory for {} bytes", call.kernel, failure.value);
  if (failure.number < 0 || failure.number >= static_cast<int64_t>(call.checks.size()))
    throwFailure("kernel '{}' failed with unknown status {}", call.kernel, failure.number);
  const LaunchCheck &check = call.checks[failure.number];
  throwBadInput("{}: value {} at position {} is not in [{}, {}), in '{}'", check.message,
                failure.value, failure.position, check.low, check.high, check.source);
}

} // namespace weft::runtime
