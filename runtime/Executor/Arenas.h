//===- Arenas.h - a rank's memory -------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_ARENAS_H
#define WEFT_RUNTIME_EXECUTOR_ARENAS_H

#include "runtime/Device/Device.h"
#include "runtime/Program/executable.pb.h"

namespace weft::runtime {

/// The memory of a program on its device, and what the host keeps for it, zero at the start.
class Arenas {
public:
  /// An Error of kind Failure where the memory is not to be had.
  Arenas(Device &device, const program::Program &program);

  /// Where the first frame of each arena begins.
  const DeviceBases &getBases() const { return first; }
  /// Where a frame of each arena begins.
  void getBases(const std::vector<int64_t> &frames, DeviceBases &bases) const;

private:
  std::vector<DeviceMemory> arenas;
  DeviceBases first;            ///< frames, by arena
  std::vector<int64_t> strides; ///< bytes from frame to frame, by arena
};

/// Bytes of all frames of all arenas on the device.
int64_t getArenaBytes(const program::Program &program);

/// Bytes that the host keeps for the device.
int64_t getHostBytes(const program::Program &program);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_ARENAS_H
