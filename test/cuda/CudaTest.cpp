//===- CudaTest.cpp - memory, streams, failures, as cuda.h says -----------===//

#include "test/cuda/StandInFixture.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace weft::test {

namespace {
const bool isSet = setenv("WEFT_STAND_IN_GPUS", std::to_string(deviceCount).c_str(), 1) == 0;
const char *const head = ".version 8.0\n.target sm_90\n.address_size 64\n";
} // namespace

void succeed(CUresult code) {
  const char *name = "?";
  cuGetErrorName(code, &name);
  INFO(name);
  REQUIRE(code == CUDA_SUCCESS);
}

void useDevice(int device) {
  REQUIRE(isSet);
  CUcontext context;
  succeed(cuInit(0));
  succeed(cuDevicePrimaryCtxRetain(&context, device));
  succeed(cuCtxSetCurrent(context));
}

namespace {

CUresult load(CUmodule *module, const std::string &kernels, std::string &log) {
  std::vector<char> buffer(16 << 10);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {buffer.data(), reinterpret_cast<void *>(buffer.size())};
  CUresult code = cuModuleLoadDataEx(module, (head + kernels).c_str(), 2, options, values);
  log = std::string(buffer.data());
  return code;
}

} // namespace

LoadedModule loadModule(const std::string &kernels) {
  std::string log;
  CUmodule module = nullptr;
  CUresult code = load(&module, kernels, log);
  INFO(log);
  succeed(code);
  return LoadedModule(module);
}

std::string getLoadError(const std::string &kernels) {
  std::string log;
  CUmodule module = nullptr;
  CHECK(load(&module, kernels, log) == CUDA_ERROR_INVALID_PTX);
  return log;
}

CUresult launch(CUmodule module, const char *kernel, unsigned blocks, unsigned threads,
                std::vector<void *> params, unsigned sharedBytes) {
  CUfunction function;
  succeed(cuModuleGetFunction(&function, module, kernel));
  CUresult code = cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, sharedBytes, nullptr,
                                 params.data(), nullptr);
  return code != CUDA_SUCCESS ? code : cuStreamSynchronize(nullptr);
}

namespace {

/// x[i] += by, for blocks and threads of one dimension.
const char *const addKernel = R"(
.visible .entry add(.param .u64 x, .param .u32 by) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [by];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r2, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r2, 4; add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r5, [%rd1]; add.s32 %r5, %r5, %r1; st.global.u32 [%rd1], %r5;
  ret;
})";

class Order {
public:
  explicit Order(const char *order) { setenv("WEFT_STAND_IN_ORDER", order, 1); }
  ~Order() { unsetenv("WEFT_STAND_IN_ORDER"); }
};

/// Host memory that copies may use.
struct HostArray {
  explicit HostArray(size_t count) {
    succeed(cuMemHostAlloc(reinterpret_cast<void **>(&data), count * 4, 0));
  }
  ~HostArray() { cuMemFreeHost(data); }
  uint32_t *data;
};

struct StreamAndEvent {
  StreamAndEvent() {
    succeed(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    succeed(cuEventCreate(&event, CU_EVENT_DEFAULT));
  }
  ~StreamAndEvent() {
    cuStreamDestroy(stream);
    cuEventDestroy(event);
  }
  CUstream stream;
  CUevent event;
};

} // namespace

TEST_CASE("a kernel of several blocks changes memory of the device") {
  useDevice(0);
  LoadedModule module = loadModule(addKernel);
  std::vector<uint32_t> values(8192);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint32_t>(i);
  DeviceArray<uint32_t> x(values);
  uint32_t by = 5;
  succeed(launch(module, "add", 32, 256, {&x.address, &by}));
  std::vector<uint32_t> read = x.read();
  for (size_t i = 0; i < values.size(); ++i)
    REQUIRE(read[i] == i + 5);
  CUfunction missing;
  CHECK(cuModuleGetFunction(&missing, module, "sub") == CUDA_ERROR_NOT_FOUND);
}

TEST_CASE("new memory holds rubbish, and its amount is counted") {
  useDevice(0);
  size_t before, after, total;
  succeed(cuMemGetInfo(&before, &total));
  CUdeviceptr address;
  succeed(cuMemAlloc(&address, 1000));
  succeed(cuMemGetInfo(&after, &total));
  CHECK(before - after == 1000);
  uint8_t bytes[1000];
  succeed(cuMemcpyDtoH(bytes, address, 1000));
  CHECK(bytes[0] == 0xa5);
  CHECK(bytes[999] == 0xa5);
  succeed(cuMemFree(address));
  CHECK(cuMemFree(address) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAlloc(&address, total + 1) == CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_CASE("copies and sets must lie in memory of the right kind") {
  useDevice(0);
  DeviceArray<uint32_t> x(std::vector<uint32_t>(16, 1)), y(std::vector<uint32_t>(16, 2));
  HostArray host(16);
  uint32_t plain[16] = {};
  CHECK(cuMemcpyHtoD(x.address, plain, 65) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyHtoDAsync(x.address, plain, 64, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoHAsync(host.data, x.address + 4, 64, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemcpyDtoD(x.address, x.address + 16, 32) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemsetD32(x.address, 7, 17) == CUDA_ERROR_INVALID_VALUE);
  succeed(cuMemcpyDtoD(x.address, y.address, 64));
  succeed(cuMemsetD32(x.address + 4, 7, 2));
  succeed(cuMemsetD16(x.address + 12, 0x0102, 1));
  succeed(cuMemsetD8(x.address + 14, 3, 2));
  CHECK(x.read()[0] == 2);
  CHECK(x.read()[2] == 7);
  CHECK(x.read()[3] == 0x03030102);
}

TEST_CASE("a late stream does nothing until somebody waits") {
  Order order("late");
  useDevice(0);
  LoadedModule module = loadModule(addKernel);
  DeviceArray<uint32_t> x(std::vector<uint32_t>(32, 1));
  HostArray host(32);
  host.data[0] = 99;
  StreamAndEvent first, second;
  CUfunction function;
  succeed(cuModuleGetFunction(&function, module, "add"));
  uint32_t by = 1;
  void *params[] = {&x.address, &by};
  succeed(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, first.stream, params, nullptr));
  by = 100; // parameters are taken at the launch
  succeed(cuEventRecord(first.event, first.stream));
  succeed(cuStreamWaitEvent(second.stream, first.event, 0));
  succeed(cuMemcpyDtoHAsync(host.data, x.address, 128, second.stream));
  succeed(cuEventRecord(second.event, second.stream));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(host.data[0] == 99);
  succeed(cuEventSynchronize(second.event));
  CHECK(host.data[0] == 2);
  CHECK(host.data[31] == 2);
  float milliseconds = -1;
  succeed(cuEventElapsedTime(&milliseconds, first.event, second.event));
  CHECK(milliseconds >= 0);
  succeed(cuEventQuery(first.event));
  succeed(cuStreamQuery(first.stream));
}

TEST_CASE("events order streams that work at random moments") {
  Order order("random:3");
  useDevice(0);
  LoadedModule module = loadModule(addKernel);
  DeviceArray<uint32_t> x(std::vector<uint32_t>(32, 0)), y(std::vector<uint32_t>(32, 0));
  StreamAndEvent streams[2];
  CUfunction function;
  succeed(cuModuleGetFunction(&function, module, "add"));
  uint32_t by = 1;
  void *params[] = {&x.address, &by};
  for (int i = 0; i < 20; ++i) {
    StreamAndEvent &now = streams[i % 2], &next = streams[1 - i % 2];
    succeed(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, now.stream, params, nullptr));
    succeed(cuMemcpyDtoDAsync(y.address, x.address, 128, now.stream));
    succeed(cuEventRecord(now.event, now.stream));
    succeed(cuStreamWaitEvent(next.stream, now.event, 0));
  }
  succeed(cuStreamSynchronize(streams[0].stream));
  CHECK(y.read() == std::vector<uint32_t>(32, 20));
}

TEST_CASE("the default stream waits for blocking ones") {
  Order order("late");
  useDevice(0);
  LoadedModule module = loadModule(addKernel);
  DeviceArray<uint32_t> x(std::vector<uint32_t>(32, 0));
  CUstream stream;
  succeed(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  CUfunction function;
  succeed(cuModuleGetFunction(&function, module, "add"));
  uint32_t by = 3;
  void *params[] = {&x.address, &by};
  succeed(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
  CHECK(x.read()[5] == 3);
  succeed(cuStreamDestroy(stream));
}

TEST_CASE("an access beyond an allocation is a failure that stays") {
  useDevice(1);
  LoadedModule module = loadModule(addKernel);
  DeviceArray<uint32_t> x(std::vector<uint32_t>(32, 0));
  uint32_t by = 1;
  CHECK(launch(module, "add", 1, 33, {&x.address, &by}) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuMemGetInfo(nullptr, nullptr) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr address;
  CHECK(cuMemAlloc(&address, 4) == CUDA_ERROR_ILLEGAL_ADDRESS);
  useDevice(0); // another device works on
  succeed(cuCtxSynchronize());
}

TEST_CASE("an access to freed memory is a failure") {
  useDevice(2);
  LoadedModule module = loadModule(addKernel);
  CUdeviceptr address;
  succeed(cuMemAlloc(&address, 128));
  succeed(cuMemFree(address));
  uint32_t by = 1;
  CHECK(launch(module, "add", 1, 32, {&address, &by}) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("a misaligned access is a failure") {
  useDevice(3);
  LoadedModule module = loadModule(addKernel);
  DeviceArray<uint32_t> x(std::vector<uint32_t>(32, 0));
  CUdeviceptr odd = x.address + 2;
  uint32_t by = 1;
  CHECK(launch(module, "add", 1, 1, {&odd, &by}) == CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST_CASE("launches keep to the limits of device and kernel") {
  useDevice(0);
  LoadedModule module = loadModule(addKernel);
  DeviceArray<uint32_t> x(std::vector<uint32_t>(32, 0));
  uint32_t by = 1;
  CHECK(launch(module, "add", 1, 1025, {&x.address, &by}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(module, "add", 0, 1, {&x.address, &by}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(module, "add", 1, 1, {&x.address, &by}, 49153) == CUDA_ERROR_INVALID_VALUE);
}

} // namespace weft::test
