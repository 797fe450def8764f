//===- Driver.h - streams and events of the CUDA driver ---------*- C++ -*-===//
//
// The driver's objects behind the interface of Device.h. Calls of the driver are checked by
// check(); what an asynchronous call of a stream came to shows when an event after it is waited
// for.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_DRIVER_H
#define WEFT_RUNTIME_CUDA_DRIVER_H

#include "runtime/Cuda/StreamHistory.h"
#include "runtime/Device/Device.h"

#include <cuda.h>
#include <memory>

namespace weft::runtime {

class CudaContext;

/// Throws an Error of kind Failure that names the call, as `what`, and the driver's error, unless
/// `result` is CUDA_SUCCESS.
void check(CUresult result, const char *what);

/// The driver's name and description of an error: "CUDA_ERROR_OUT_OF_MEMORY, out of memory".
std::string describe(CUresult result);

inline CUdeviceptr toPointer(DeviceAddress address) { return address.getValue(); }
inline DeviceAddress toAddress(CUdeviceptr pointer) { return DeviceAddress(pointer); }

class CudaEvent : public Event {
public:
  /// With a time; in the current context.
  CudaEvent();
  ~CudaEvent() override;
  CudaEvent(const CudaEvent &) = delete;
  CudaEvent &operator=(const CudaEvent &) = delete;

  CUevent get() const { return event; }

  bool isDone() const override;
  bool wait(double seconds) override;
  double getSecondsSince(const Event &earlier) const override;

private:
  friend class CudaStream;

  /// Throws the Error of what failed before the event, which is done, if anything has.
  void throwIfFailed() const;

  CUevent event = nullptr;
  HistoryPoint point; ///< where it was last recorded
};

/// A stream of the context, which does not wait for the default stream. Its end waits for nothing:
/// a collective that never ends may be on it, which its communicator ends later.
class CudaStream : public Stream {
public:
  explicit CudaStream(CudaContext &context);
  ~CudaStream() override;
  CudaStream(const CudaStream &) = delete;
  CudaStream &operator=(const CudaStream &) = delete;

  CUstream get() const { return stream; }

  void copyToDevice(DeviceAddress to, const std::byte *from, int64_t bytes) override;
  void copyToHost(std::byte *to, DeviceAddress from, int64_t bytes) override;
  void record(Event &event) override;
  void wait(const Event &event) override;

  /// At least `bytes` of memory for the command that is being enqueued alone: the stream's commands
  /// use it one after the other. It is aligned to 256 bytes and lives as long as the context. What
  /// commands need they have told by CudaContext::reserveWorkspace when they were made.
  CUdeviceptr getWorkspace(int64_t bytes);

  /// Has events recorded from here on tell whether `launch` failed.
  void watch(std::shared_ptr<WatchedLaunch> launch) { history->add(std::move(launch)); }

private:
  CudaContext &context;
  CUstream stream = nullptr;
  CUdeviceptr workspace = 0;
  int64_t workspaceBytes = 0;
  std::shared_ptr<StreamHistory> history;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_DRIVER_H
