//===- CudaMemory.cpp - allocations, copies and sets of cuda.h ------------===//

#include "test/cuda/Objects.h"

#include <algorithm>
#include <cstring>

using namespace weft::test;

namespace {

enum class Kind { Device, Host };

std::string describe(uint64_t bytes, const char *what) {
  return std::to_string(bytes) + " bytes " + what;
}

bool isOf(Kind kind, uint64_t address, uint64_t bytes) {
  if (kind == Kind::Host)
    return getHostMemory().contains(address, bytes);
  for (CUctx_st *context : getContexts())
    if (context->memory.contains(address, bytes))
      return true;
  return false;
}

void check(Kind kind, uint64_t address, uint64_t bytes, CUresult code) {
  if (bytes && !isOf(kind, address, bytes))
    throw Failure{
        code,
        describe(bytes, kind == Kind::Device
                            ? "of a copy or set that are not of one allocation of device memory"
                            : "of an asynchronous copy that are not of cuMemHostAlloc")};
}

/// Checks twice: what is freed in the meantime makes the stream fail.
struct Access {
  Kind kind;
  uint64_t address;
};

void enqueueChecked(CUstream_st &stream, std::initializer_list<Access> accesses, uint64_t bytes,
                    std::function<void()> work) {
  std::vector<Access> kept(accesses);
  for (const Access &access : kept)
    check(access.kind, access.address, bytes, CUDA_ERROR_INVALID_VALUE);
  enqueue(stream, [kept, bytes, work = std::move(work)] {
    for (const Access &access : kept)
      check(access.kind, access.address, bytes, CUDA_ERROR_ILLEGAL_ADDRESS);
    work();
  });
}

void copy(uint64_t to, uint64_t from, uint64_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
}

/// Copies that return when they are done wait for the default stream.
CUresult copyNow(Access device, uint64_t to, uint64_t from, size_t bytes) {
  return guarded([&] {
    CUstream_st &stream = getStream(nullptr);
    enqueueChecked(stream, {device}, bytes, [=] { copy(to, from, bytes); });
    stream.queue->pushPoint()->wait();
    stream.context.check();
  });
}

void copyLater(CUstream_st &stream, Access to, Access from, size_t bytes) {
  if (to.kind == from.kind)
    require(to.address + bytes <= from.address || from.address + bytes <= to.address,
            "a copy between bytes that do not overlap");
  enqueueChecked(stream, {to, from}, bytes, [=] { copy(to.address, from.address, bytes); });
}

template <class T> CUresult setLater(CUstream handle, CUdeviceptr address, T value, size_t count) {
  return guarded([&] {
    require(address % sizeof(T) == 0, "an address that the value's size divides");
    enqueueChecked(getStream(handle), {{Kind::Device, address}}, count * sizeof(T),
                   [=] { std::fill_n(reinterpret_cast<T *>(address), count, value); });
  });
}

} // namespace

/// Waits for the device, as CUDA's does.
CUresult cuMemFree(CUdeviceptr address) {
  return guarded([&] {
    CUctx_st &context = getContext();
    if (!address)
      return;
    context.synchronize();
    bool isFreed = false;
    for (CUctx_st *each : getContexts())
      isFreed = isFreed || (each->memory.covers(address) && each->memory.free(address));
    require(isFreed, "an address of cuMemAlloc to free");
    context.check();
  });
}

CUresult cuMemHostAlloc(void **data, size_t bytes, unsigned int flags) {
  return guarded([&] {
    getContext();
    require(data && bytes, "at least a byte of memory");
    uint64_t found = getHostMemory().allocate(bytes);
    if (!found)
      throw Failure{CUDA_ERROR_OUT_OF_MEMORY, ""};
    *data = reinterpret_cast<void *>(found);
  });
}

CUresult cuMemAllocHost(void **data, size_t bytes) { return cuMemHostAlloc(data, bytes, 0); }

CUresult cuMemFreeHost(void *data) {
  return guarded([&] {
    CUctx_st &context = getContext();
    context.synchronize();
    require(getHostMemory().free(reinterpret_cast<uint64_t>(data)),
            "an address of cuMemHostAlloc to free");
    context.check();
  });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *data, unsigned int flags) {
  return guarded([&] {
    getContext();
    require(flags == 0, "no flags of cuMemHostGetDevicePointer");
    *address = reinterpret_cast<CUdeviceptr>(data);
    check(Kind::Host, *address, 1, CUDA_ERROR_INVALID_VALUE);
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return copyNow({Kind::Device, to}, to, reinterpret_cast<uint64_t>(from), bytes);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return copyNow({Kind::Device, from}, reinterpret_cast<uint64_t>(to), from, bytes);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return cuMemcpyDtoDAsync(to, from, bytes, nullptr);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return guarded([&] {
    copyLater(getStream(stream), {Kind::Device, to}, {Kind::Host, reinterpret_cast<uint64_t>(from)},
              bytes);
  });
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return guarded([&] {
    copyLater(getStream(stream), {Kind::Host, reinterpret_cast<uint64_t>(to)}, {Kind::Device, from},
              bytes);
  });
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return guarded(
      [&] { copyLater(getStream(stream), {Kind::Device, to}, {Kind::Device, from}, bytes); });
}

/// By the addresses, which are one space, it is known where either side lies.
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return guarded([&] {
    auto locate = [](CUdeviceptr address) {
      return Access{getHostMemory().covers(address) ? Kind::Host : Kind::Device, address};
    };
    copyLater(getStream(stream), locate(to), locate(from), bytes);
  });
}

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return setLater(nullptr, to, value, count);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return setLater(nullptr, to, value, count);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, size_t count) {
  return setLater(nullptr, to, value, count);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return setLater(stream, to, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return setLater(stream, to, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return setLater(stream, to, value, count);
}
