//===- ValueLifetimes.h - what lies in a rank's arenas, and when -*- C++ -*-===//

#ifndef WEFT_DRIVER_VALUELIFETIMES_H
#define WEFT_DRIVER_VALUELIFETIMES_H

#include "runtime/Program/executable.pb.h"
#include <string>
#include <vector>

namespace weft {

/// An instruction of a program, in the walk of the schedule in which each segment is executed once,
/// where it first stands.
struct ProgramPoint {
  uint32_t segment = 0;
  int instruction = 0;
  int64_t step = -1; ///< in the walk; -1: before the first
};

/// Bytes that hold one value from its first to its last use.
struct HeldValue {
  std::string name; ///< of a port, weight or gradient, else of what wrote it first
  program::ArenaKind kind = program::ACTIVATIONS;
  int64_t bytes = 0;  ///< in all frames
  int64_t frames = 1; ///< of the arena
  ProgramPoint first, last;
  bool resident = false; ///< from the start to the end of the step
};

/// The values of a program, each once, in the order in which they come. What lies in frames counts
/// with all of them. A wait uses what it waits for.
std::vector<HeldValue> listHeldValues(const program::Executable &executable,
                                      const program::Program &program);

/// The values that are held at the step at which most bytes are.
std::vector<HeldValue> listValuesAtPeak(const std::vector<HeldValue> &values);

/// Bytes of these values, those of one name and kind together, largest first.
std::vector<HeldValue> listOwnersAtPeak(const std::vector<HeldValue> &values);

} // namespace weft

#endif // WEFT_DRIVER_VALUELIFETIMES_H
