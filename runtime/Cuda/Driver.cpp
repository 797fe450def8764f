//===- Driver.cpp - streams and events of the CUDA driver -----------------===//

#include "runtime/Cuda/Driver.h"

#include "runtime/Cuda/CudaContext.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace weft::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// Instructions often take some microseconds; a pause is for those that take longer.
constexpr std::chrono::microseconds spinTime(30), shortestPause(5), longestPause(200);

} // namespace

std::string describe(CUresult result) {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    return fmt::format("CUDA error {}", int(result));
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    return name;
  return fmt::format("{}, {}", name, text);
}

void check(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS)
    throwFailure("{}: {}", what, describe(result));
}

CudaEvent::CudaEvent() { check(cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate"); }

CudaEvent::~CudaEvent() { cuEventDestroy(event); }

bool CudaEvent::isDone() const {
  CUresult result = cuEventQuery(event);
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  if (result == CUDA_SUCCESS)
    point.findFailure(); // remembered there; keeps the list of what is to be looked at short
  return true;
}

bool CudaEvent::wait(double seconds) {
  Clock::time_point begin = Clock::now();
  std::chrono::microseconds pause = shortestPause;
  while (!isDone()) {
    std::chrono::duration<double> waited = Clock::now() - begin;
    if (waited.count() >= seconds)
      return false;
    if (waited < spinTime) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longestPause);
  }
  throwIfFailed();
  return true;
}

void CudaEvent::throwIfFailed() const {
  if (std::exception_ptr failure = point.findFailure())
    std::rethrow_exception(failure);
  check(cuEventQuery(event), "a command on the GPU failed");
}

double CudaEvent::getSecondsSince(const Event &earlier) const {
  float milliseconds = 0;
  check(cuEventElapsedTime(&milliseconds, static_cast<const CudaEvent &>(earlier).event, event),
        "cuEventElapsedTime");
  return milliseconds / 1000.0;
}

CudaStream::CudaStream(CudaContext &context)
    : context(context), history(std::make_shared<StreamHistory>()) {
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

CudaStream::~CudaStream() {
  history->close();
  cuStreamDestroy(stream); // returns at once: the driver ends it when what it holds is done
}

void CudaStream::copyToDevice(DeviceAddress to, const std::byte *from, int64_t bytes) {
  if (bytes == 0)
    return;
  // Both addresses may be of the host: of what it keeps for the device.
  check(cuMemcpyAsync(toPointer(to), reinterpret_cast<CUdeviceptr>(from),
                      static_cast<size_t>(bytes), stream),
        "cuMemcpyAsync");
  context.copied.toDevice += bytes;
}

void CudaStream::copyToHost(std::byte *to, DeviceAddress from, int64_t bytes) {
  if (bytes == 0)
    return;
  check(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), toPointer(from),
                      static_cast<size_t>(bytes), stream),
        "cuMemcpyAsync");
  context.copied.toHost += bytes;
}

void CudaStream::record(Event &event) {
  auto &recorded = static_cast<CudaEvent &>(event);
  check(cuEventRecord(recorded.event, stream), "cuEventRecord");
  recorded.point = {history, history->getNumber()};
}

void CudaStream::wait(const Event &event) {
  const auto &awaited = static_cast<const CudaEvent &>(event);
  check(cuStreamWaitEvent(stream, awaited.event, CU_EVENT_WAIT_DEFAULT), "cuStreamWaitEvent");
  history->add(awaited.point);
}

CUdeviceptr CudaStream::getWorkspace(int64_t bytes) {
  if (bytes > workspaceBytes) { // what is enqueued may use the old one, which stays
    int64_t wanted = std::max(bytes, context.getReservedWorkspace());
    workspace = context.allocateWorkspace(wanted);
    workspaceBytes = wanted; // once there is one: without memory, the next command fails as well
  }
  return workspace;
}

} // namespace weft::runtime
