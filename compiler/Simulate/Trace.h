//===- Trace.h - a simulated run to look at ---------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SIMULATE_TRACE_H
#define WEFT_COMPILER_SIMULATE_TRACE_H

#include "compiler/Simulate/Simulator.h"
#include <ostream>

namespace weft::sim {

/// Writes a run that was simulated with spans (and memory) in the JSON form of trace events, which
/// Perfetto and chrome://tracing open: a process for each rank class, a thread for each stream, a
/// counter for the live bytes of each owner. Times in it are microseconds.
void writeTrace(std::ostream &out, const Program &program, const Result &result);

} // namespace weft::sim

#endif // WEFT_COMPILER_SIMULATE_TRACE_H
