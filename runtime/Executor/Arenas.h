//===- Arenas.h - a rank's memory -------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_ARENAS_H
#define WEFT_RUNTIME_EXECUTOR_ARENAS_H

#include "runtime/Device/Device.h"
#include "runtime/Program/executable.pb.h"

namespace weft::runtime {

/// The memory of a program on its device, zero at the start. Arenas of weights
/// and state have one frame; those of activations, communication and workspace one for each frame
/// that the schedule names.
class Arenas {
public:
  /// An Error of kind Failure where the memory is not to be had.
  Arenas(Device &device, const program::Program &program);

  /// Where each arena's frame `frame` begins.
  const DeviceBases &getBases(int64_t frame) const { return frames[frame]; }
  int64_t getNumFrames() const { return static_cast<int64_t>(frames.size()); }

private:
  std::vector<DeviceMemory> arenas;
  std::vector<DeviceBases> frames;
};

/// Frames that a program's schedule names, and bytes of all its arenas.
int64_t getNumFrames(const program::Program &program);
int64_t getArenaBytes(const program::Program &program);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_ARENAS_H
