//===- CudaDevice.cpp - a GPU of CUDA as a device -------------------------===//
//
// A module of its own (weft-device-cuda.so), loaded where a program for CUDA runs. It uses the
// driver's interface, cuBLASLt, cuDNN and NCCL.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/Commands.h"
#include "runtime/Cuda/Conv.h"
#include "runtime/Cuda/NcclCommunicator.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

namespace weft::runtime {

namespace {

constexpr int64_t stagingBytes = 16 << 20; // a transfer of a millisecond
constexpr int64_t leastBytes = 256;        // of an allocation, which must not be empty

/// Whether a GPU of `chip` runs code made for a feature: sm_80 runs on all later ones, sm_90a on
/// its own alone, sm_100f on those of its generation.
bool runs(int chip, std::string_view feature) {
  int needed = 0;
  constexpr std::string_view prefix = "sm_";
  if (!feature.starts_with(prefix))
    return false;
  const char *end = feature.data() + feature.size();
  auto [rest, error] = std::from_chars(feature.data() + prefix.size(), end, needed);
  std::string_view kind(rest, static_cast<size_t>(end - rest));
  if (error != std::errc() || chip < needed)
    return false;
  return kind.empty() || (kind == "a" && chip == needed) ||
         (kind == "f" && chip / 10 == needed / 10);
}

class CudaDevice : public Device {
public:
  explicit CudaDevice(const DeviceOptions &options) : context(options) {}

  std::string getName() const override { return "cuda"; }
  std::string getTarget() const override { return "cuda"; }
  void checkFeatures(std::span<const std::string> features) const override;

  int64_t getAvailableMemory() const override;
  DeviceAddress allocate(int64_t bytes) override;
  DeviceAddress allocateOnHost(int64_t bytes) override;
  void free(DeviceAddress address) override;
  std::byte *allocateHost(int64_t bytes) override;
  void freeHost(std::byte *memory) override { cuMemFreeHost(memory); }
  std::byte *getHostPointer(DeviceAddress address) const override { return nullptr; }
  int64_t getStagingBytes() const override { return stagingBytes; }
  CopiedBytes getCopiedBytes() const override { return context.copied; }

  std::unique_ptr<Stream> makeStream() override { return std::make_unique<CudaStream>(context); }
  std::unique_ptr<Event> makeEvent() override { return std::make_unique<CudaEvent>(); }

  void loadKernels(const std::string &folder) override { context.loadKernels(folder); }
  std::unique_ptr<Command> makeLaunch(LaunchCall call) override {
    return makeLaunchCommand(context, std::move(call));
  }
  std::unique_ptr<Command> makeAttention(AttentionCall call) override { refuseAttention(); }
  std::unique_ptr<Command> makeAttentionBackward(AttentionBackwardCall call) override {
    refuseAttention();
  }
  std::unique_ptr<Command> makeGemm(GemmCall call) override {
    return makeGemmCommand(context, std::move(call));
  }
  std::unique_ptr<Command> makeConv(ConvCall call) override {
    return makeConvCommand(context, std::move(call));
  }
  std::unique_ptr<Command> makeCopy(CopyCall call) override {
    return makeCopyCommand(context, std::move(call));
  }
  std::unique_ptr<Command> makeFill(FillCall call) override {
    return makeFillCommand(context, std::move(call));
  }
  std::unique_ptr<Communicator> makeCommunicator(Transport &transport) override {
    return makeNcclCommunicator(context, transport);
  }

private:
  /// The compiler writes attention out as products and kernels.
  [[noreturn]] static void refuseAttention() {
    throwBadInput("attention is not an instruction of the cuda device; compile again with --device "
                  "cuda");
  }

  CudaContext context;
  std::map<CUdeviceptr, std::byte *> onHost; ///< what is kept there, by address
};

void CudaDevice::checkFeatures(std::span<const std::string> features) const {
  std::string missing;
  for (const std::string &feature : features)
    if (!runs(context.getChip(), feature))
      missing += " " + feature;
  if (!missing.empty())
    throwBadInput("GPU {}, {}, is of sm_{}, the kernels need{}; compile again for this GPU",
                  context.getOrdinal(), context.getGpuName(), context.getChip(), missing);
}

int64_t CudaDevice::getAvailableMemory() const {
  size_t free = 0, total = 0;
  context.makeCurrent();
  check(cuMemGetInfo(&free, &total), "cuMemGetInfo");
  int64_t share = static_cast<int64_t>(free) / context.getNumSharingRanks();
  return std::max<int64_t>(0, share - context.getMissingWorkspace());
}

DeviceAddress CudaDevice::allocate(int64_t bytes) {
  context.makeCurrent();
  CUdeviceptr address = 0;
  auto wanted = static_cast<size_t>(std::max(bytes, leastBytes));
  if (CUresult result = cuMemAlloc(&address, wanted); result != CUDA_SUCCESS)
    throwFailure("no memory for {} bytes on GPU {}: {}", bytes, context.getOrdinal(),
                 describe(result));
  // Streams do not wait for what the default stream does, so that this must.
  CUresult result = cuMemsetD8Async(address, 0, wanted, nullptr);
  if (result == CUDA_SUCCESS)
    result = cuStreamSynchronize(nullptr);
  if (result != CUDA_SUCCESS)
    cuMemFree(address);
  check(result, "cuMemsetD8Async");
  return toAddress(address);
}

/// All addresses are one space: copies know by an address where it lies.
DeviceAddress CudaDevice::allocateOnHost(int64_t bytes) {
  std::byte *memory = allocateHost(bytes);
  CUdeviceptr address = 0;
  if (CUresult result = cuMemHostGetDevicePointer(&address, memory, 0); result != CUDA_SUCCESS) {
    freeHost(memory);
    check(result, "cuMemHostGetDevicePointer");
  }
  std::memset(memory, 0, static_cast<size_t>(bytes));
  onHost[address] = memory;
  return toAddress(address);
}

void CudaDevice::free(DeviceAddress address) {
  if (auto found = onHost.find(toPointer(address)); found != onHost.end()) {
    freeHost(found->second);
    onHost.erase(found);
    return;
  }
  cuMemFree(toPointer(address));
}

std::byte *CudaDevice::allocateHost(int64_t bytes) {
  context.makeCurrent();
  void *memory = nullptr;
  CUresult result = cuMemHostAlloc(&memory, static_cast<size_t>(std::max(bytes, leastBytes)),
                                   CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result != CUDA_SUCCESS)
    throwFailure("no memory for {} bytes of the host that GPU {} reaches: {}", bytes,
                 context.getOrdinal(), describe(result));
  return static_cast<std::byte *>(memory);
}

Device *makeCudaDevice(const DeviceOptions &options) { return new CudaDevice(options); }

} // namespace

} // namespace weft::runtime

/// What the runtime looks up in the module.
extern "C" const weft::runtime::DeviceModule weft_device_module = {
    weft::runtime::deviceInterfaceVersion, weft::runtime::makeCudaDevice};
