//===- OpenDevice.h - which devices there are -------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_OPENDEVICE_H
#define WEFT_RUNTIME_EXECUTOR_OPENDEVICE_H

#include "runtime/Device/Device.h"
#include "runtime/Program/executable.pb.h"

namespace weft::runtime {

/// A rank's device by its name: "cpu" is built in, any other is a module, weft-device-NAME.so. An
/// Error of kind BadInput where there is none of that name.
std::unique_ptr<Device> openDevice(const std::string &name, const DeviceOptions &options);

/// The device of that name to run an executable on, empty: the one that it was compiled for. An
/// Error of kind BadInput where it runs other programs or lacks what the kernels need.
std::unique_ptr<Device> openDevice(const program::Executable &executable, const std::string &name,
                                   const DeviceOptions &options);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_OPENDEVICE_H
