//===- ProcessMemory.h - what this process takes ----------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_PROCESSMEMORY_H
#define WEFT_RUNTIME_EXECUTOR_PROCESSMEMORY_H

#include <cstdint>

namespace weft::runtime {

/// Peak resident set of this process in bytes.
int64_t getPeakRss();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_PROCESSMEMORY_H
