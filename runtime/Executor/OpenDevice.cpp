#include "runtime/Executor/OpenDevice.h"

#include "runtime/Cpu/CpuDevice.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/LoadModule.h"

#include <algorithm>
#include <cctype>

namespace weft::runtime {

std::unique_ptr<Device> openDevice(const std::string &name, const DeviceOptions &options) {
  if (name == "cpu")
    return makeCpuDevice(options);
  bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_';
  });
  if (!plain)
    throwBadInput("there is no device '{}'; compile with --device cpu", name);
  auto *module = static_cast<const DeviceModule *>(
      loadModule({fmt::format("weft-device-{}.so", name), fmt::format("the device '{}'", name),
                  "compile with --device cpu"},
                 "weft_device_module"));
  if (module->version != deviceInterfaceVersion)
    throwBadInput("the module of device '{}' has version {} of the interface, this runtime has {}; "
                  "install both together",
                  name, module->version, deviceInterfaceVersion);
  return std::unique_ptr<Device>(module->make(options));
}

std::unique_ptr<Device> openDevice(const program::Executable &executable, const std::string &name,
                                   const DeviceOptions &options) {
  auto device = openDevice(name.empty() ? executable.device() : name, options);
  if (device->getTarget() != executable.device())
    throwBadInput("the executable was compiled for device '{}', '{}' runs programs for '{}'",
                  executable.device(), device->getName(), device->getTarget());
  std::vector<std::string> features(executable.cpu_features().begin(),
                                    executable.cpu_features().end());
  device->checkFeatures(features);
  return device;
}

} // namespace weft::runtime
