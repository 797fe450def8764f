//===- CpuDevice.h - the host's cores as a device ---------------*- C++ -*-===//
//
// Its memory is host memory, which the host may touch: nothing is copied between the two. A stream
// does what is enqueued within the call, on the rank's pool of threads; events are always done.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_CPUDEVICE_H
#define WEFT_RUNTIME_CPU_CPUDEVICE_H

#include "runtime/Device/Device.h"

namespace weft::runtime {

/// Called by the rank's thread, whose calls of libraries it holds to one thread each.
std::unique_ptr<Device> makeCpuDevice(const DeviceOptions &options);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_CPUDEVICE_H
