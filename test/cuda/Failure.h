//===- Failure.h - how work on a stream fails -------------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_FAILURE_H
#define WEFT_TEST_CUDA_FAILURE_H

// The library exports CUDA's functions and hides its own (CMakeLists.txt).
#pragma GCC visibility push(default)
#include "test/cuda/StandIn.h"
#include <cuda.h>
#pragma GCC visibility pop

#include <string>

namespace weft::test {

/// Thrown by work on a stream, and by calls where it is the shortest way to their result.
struct Failure {
  CUresult code;
  std::string message;
};

/// Says on stderr what was wrong, for whoever sees only the code.
void report(const std::string &message);

/// What the environment says, or else `otherwise`.
uint64_t readSetting(const char *name, uint64_t otherwise);

} // namespace weft::test

#endif // WEFT_TEST_CUDA_FAILURE_H
