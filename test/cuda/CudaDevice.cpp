//===- CudaDevice.cpp - devices and contexts of cuda.h --------------------===//

#include "test/cuda/Objects.h"

#include <algorithm>
#include <cstring>

using namespace weft::test;

namespace {

CUctx_st &getDevice(CUdevice device) {
  const auto &contexts = getContexts();
  if (device < 0 || device >= static_cast<CUdevice>(contexts.size()))
    throw Failure{CUDA_ERROR_INVALID_DEVICE,
                  "device " + std::to_string(device) + " of " + std::to_string(contexts.size())};
  return *contexts[device];
}

uint64_t getTotalMemory() { return readSetting("WEFT_STAND_IN_MEMORY", 4ull << 30); }

struct Attribute {
  CUdevice_attribute name;
  int value;
};

constexpr Attribute attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1 << 10},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 64 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 64 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},          // kHz
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},   // kHz
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 256}, // bits
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4 << 20},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
};

} // namespace

CUresult cuInit(unsigned int flags) {
  return guarded([&] { require(flags == 0, "no flags of cuInit"); });
}

CUresult cuDriverGetVersion(int *version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  *count = static_cast<int>(getContexts().size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return guarded([&] { *device = getDevice(ordinal).device; });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return guarded([&] {
    getDevice(device);
    std::snprintf(name, length, "CUDA stand-in");
  });
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return guarded([&] {
    std::memset(uuid->bytes, 0, sizeof uuid->bytes);
    uuid->bytes[0] = static_cast<char>(getDevice(device).device + 1);
  });
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  return guarded(
      [&] { std::snprintf(id, length, "0000:%02x:00.0", getDevice(device).device + 1); });
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  return guarded([&] {
    getDevice(device);
    *bytes = getTotalMemory();
  });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute name, CUdevice device) {
  return guarded([&] {
    int index = getDevice(device).device;
    if (name == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID || name == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) {
      *value = name == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? index + 1 : 0;
      return;
    }
    auto found = std::find_if(std::begin(attributes), std::end(attributes),
                              [&](const Attribute &attribute) { return attribute.name == name; });
    require(found != std::end(attributes), "an attribute that the stand-in knows");
    *value = found->value;
  });
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  return guarded([&] {
    getDevice(device);
    getDevice(peer);
    *can = 0;
  });
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return guarded([&] {
    CUctx_st &found = getDevice(device);
    std::lock_guard guard(found.lock);
    ++found.retained;
    *context = &found;
  });
}

/// What the context has stays: only a test that counts leaks could tell.
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return guarded([&] {
    CUctx_st &found = getDevice(device);
    std::lock_guard guard(found.lock);
    if (!found.retained)
      throw Failure{CUDA_ERROR_INVALID_CONTEXT, "a release of a context that is not retained"};
    --found.retained;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
  return guarded([&] {
    CUctx_st &found = getDevice(device);
    std::lock_guard guard(found.lock);
    *flags = 0;
    *active = found.retained > 0;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return guarded([&] {
    const auto &all = getContexts();
    if (context && std::find(all.begin(), all.end(), context) == all.end())
      throw Failure{CUDA_ERROR_INVALID_CONTEXT, "what is given for a context is none"};
    currentContext() = context;
  });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = currentContext();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  return guarded([&] { *device = getContext().device; });
}

CUresult cuCtxSynchronize() {
  return guarded([&] {
    CUctx_st &context = getContext();
    context.synchronize();
    context.check();
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return guarded([&] {
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
      getContext().heapLimit = value;
    else if (limit != CU_LIMIT_STACK_SIZE && limit != CU_LIMIT_PRINTF_FIFO_SIZE)
      throw Failure{CUDA_ERROR_UNSUPPORTED_LIMIT, "a limit that the stand-in does not know"};
  });
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  return guarded([&] {
    if (limit != CU_LIMIT_MALLOC_HEAP_SIZE)
      throw Failure{CUDA_ERROR_UNSUPPORTED_LIMIT, "a limit that the stand-in does not know"};
    *value = getContext().heapLimit;
  });
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return guarded([&] {
    getContext();
    if (least)
      *least = 0;
    if (greatest)
      *greatest = -5;
  });
}

CUresult cuMemGetInfo(size_t *left, size_t *total) {
  return guarded([&] {
    uint64_t used = getContext().memory.getAllocated();
    *total = getTotalMemory();
    *left = *total - std::min<uint64_t>(*total, used);
  });
}

/// Here, where the total is known.
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  return guarded([&] {
    require(address && bytes, "at least a byte of memory");
    MemoryRange &memory = getContext().memory;
    uint64_t total = getTotalMemory(), used = memory.getAllocated();
    uint64_t found = used < total && bytes <= total - used ? memory.allocate(bytes) : 0;
    if (!found)
      throw Failure{CUDA_ERROR_OUT_OF_MEMORY, ""};
    *address = found;
  });
}
