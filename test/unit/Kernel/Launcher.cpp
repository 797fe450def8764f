//===- Launcher.cpp - runs kernels for tests ------------------------------===//

#include "test/unit/Kernel/Launcher.h"

#include "runtime/Executor/OpenDevice.h"
#include "runtime/Support/Error.h"
#include "test/unit/Kernel/LoadLibrary.h"

#include <cstdio>
#include <cstring>
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

namespace {

class HostLauncher : public Launcher {
public:
  KernelMachine getMachine() const override { return KernelMachine::Cores; }
  std::string load(const KernelLibrary &made) override {
    library = loadLibrary(made.bytes);
    return library ? "" : "cannot load the kernels";
  }
  bool takesRanges() const override { return true; }

  std::optional<Failure> launch(const KernelInfo &info, Buffers &operands,
                                const std::vector<int64_t> &params, int64_t low,
                                int64_t high) override {
    auto kernel = reinterpret_cast<Kernel>(dlsym(library, info.key.c_str()));
    if (!kernel)
      throw std::runtime_error("has no symbol " + info.key);
    std::vector<void *> addresses;
    for (std::vector<char> &operand : operands)
      addresses.push_back(operand.data());
    Failure failure{};
    int32_t status = kernel(addresses.data(), params.data(), low, high, failure.data());
    return status == 0 ? std::nullopt : std::optional(failure);
  }

private:
  void *library = nullptr;
};

/// Copies operands to an arena and back for each launch.
class DeviceLauncher : public Launcher {
public:
  explicit DeviceLauncher(const std::string &name) : device(runtime::openDevice(name, {0, 1, 2})) {}

  KernelMachine getMachine() const override { return KernelMachine::Gpu; }
  bool takesRanges() const override { return false; }

  std::string load(const KernelLibrary &made) override {
    llvm::SmallString<64> folder;
    if (llvm::sys::fs::createUniqueDirectory("weft-cases", folder))
      return "cannot make a temporary folder";
    std::string path = folder.str().str();
    std::ofstream(path + "/" + getKernelFile(made.machine).str()) << made.bytes;
    device->loadKernels(path);
    fs::remove_all(path);
    return "";
  }

  std::optional<Failure> launch(const KernelInfo &info, Buffers &operands,
                                const std::vector<int64_t> &params, int64_t low,
                                int64_t high) override {
    runtime::LaunchCall call{info.key, {}, params, high, info.grain, {}};
    for (const KernelCheck &check : info.checks)
      call.checks.push_back(
          {std::to_string(call.checks.size()), check.low, check.high, check.source});
    int64_t bytes = 0;
    for (const std::vector<char> &operand : operands) {
      auto size = static_cast<int64_t>(operand.size());
      call.operands.push_back({0, bytes, program::U8, {size}, {1}});
      bytes += (size + 255) / 256 * 256;
    }
    try {
      run(call, operands, bytes);
    } catch (const runtime::Error &error) {
      Failure failure;
      if (std::sscanf(error.what(), "%ld: value %ld at position %ld", &failure[0], &failure[1],
                      &failure[2]) != 3)
        throw;
      return failure;
    }
    return std::nullopt;
  }

private:
  void run(const runtime::LaunchCall &call, Buffers &operands, int64_t bytes) {
    std::unique_ptr<runtime::Stream> stream = device->makeStream(); // a failed check ends one
    runtime::DeviceMemory arena(*device, std::max<int64_t>(bytes, 1));
    runtime::HostMemory host(*device, std::max<int64_t>(bytes, 1));
    auto forEach = [&](auto act) {
      for (auto [operand, view] : llvm::zip_equal(operands, call.operands))
        act(operand, host.getData() + view.offset, arena.getAddress() + view.offset);
    };
    forEach([&](std::vector<char> &operand, std::byte *at, runtime::DeviceAddress address) {
      std::memcpy(at, operand.data(), operand.size());
      stream->copyToDevice(address, at, operand.size());
    });
    auto command = device->makeLaunch(call);
    command->initialise();
    command->enqueue({arena.getAddress()}, *stream);
    forEach([&](std::vector<char> &operand, std::byte *at, runtime::DeviceAddress address) {
      stream->copyToHost(at, address, operand.size());
    });
    auto event = device->makeEvent();
    stream->record(*event);
    event->wait(600);
    forEach([&](std::vector<char> &operand, std::byte *at, runtime::DeviceAddress) {
      std::memcpy(operand.data(), at, operand.size());
    });
  }

  std::unique_ptr<runtime::Device> device;
};

} // namespace

std::unique_ptr<Launcher> weft::makeHostLauncher() { return std::make_unique<HostLauncher>(); }

std::unique_ptr<Launcher> weft::makeDeviceLauncher(const std::string &device) {
  return std::make_unique<DeviceLauncher>(device);
}
