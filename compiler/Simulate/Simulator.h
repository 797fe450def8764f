//===- Simulator.h - events of a program over time --------------*- C++ -*-===//
//
// A discrete-event simulation with rates: between two events every stream runs at a constant rate.
// Transfers on a link whose demands exceed its capacity slow each other in proportion; computing
// slows by the loss of every communication that runs beside it on its rank. The order of events at
// the same time follows the order in which they were made, so that runs repeat.
//
// Cost: O(log n) an instruction and entry, O(1) memory an event and message instance (one byte).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SIMULATE_SIMULATOR_H
#define WEFT_COMPILER_SIMULATE_SIMULATOR_H

#include "compiler/Simulate/MemoryMeter.h"
#include "compiler/Simulate/Program.h"
#include <array>

namespace weft::sim {

/// What ran on a stream from `begin` to `end` (seconds).
struct Span {
  int32_t rankClass = 0;
  int32_t entry = 0;
  int32_t instruction = 0; ///< of the entry's segment
  double begin = 0, end = 0;
};

/// A stream that cannot go on when nothing happens any more.
struct Blocked {
  int32_t rankClass = 0;
  int32_t entry = 0;
  int32_t instruction = 0;
};

struct ClassResult {
  double begin = 0, end = 0; ///< s of the first and the last instruction that takes time
  std::array<double, numStreams> busy{}; ///< s of each stream
  MemoryPeak memory;
};

struct Result {
  double seconds = 0; ///< until the last stream is done
  std::vector<ClassResult> classes;
  int64_t messages = 0;            ///< of all ranks
  double messageBytes = 0;         ///< B of all ranks
  std::vector<Span> spans;         ///< with Options::spans, in order of their ends: all work, and
                                   ///< transfers that take time
  std::vector<MemoryPoint> memory; ///< with Options::memory, in order of time
  std::vector<Blocked> blocked;    ///< not empty: the program deadlocks
};

struct Options {
  bool spans = false;
  bool memory = false;
};

/// Runs a program from time 0. The program must be consistent: ids in range, instances below
/// Program::instances.
Result simulate(const Program &program, const Options &options = {});

} // namespace weft::sim

#endif // WEFT_COMPILER_SIMULATE_SIMULATOR_H
