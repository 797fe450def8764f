//===- Objects.h - contexts, streams, events --------------------*- C++ -*-===//
//
// What the handles of cuda.h point to. A context fails as CUDA's do: the first failure of its work
// is what every later call returns.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_OBJECTS_H
#define WEFT_TEST_CUDA_OBJECTS_H

#include "test/cuda/Failure.h"
#include "test/cuda/Memory.h"
#include "test/cuda/Queue.h"

#include <set>
#include <thread>

struct CUstream_st {
  CUstream_st(CUctx_st &context, bool blocking);
  ~CUstream_st();

  CUctx_st &context;
  bool blocking; ///< ordered with the default stream
  std::shared_ptr<weft::test::Queue> queue;
  std::thread thread;
};

struct CUevent_st {
  CUctx_st &context;
  bool timed;
  std::shared_ptr<weft::test::Point> point; ///< null: never recorded
};

struct CUctx_st {
  explicit CUctx_st(int device) : device(device) {}

  /// Throws the failure that there was.
  void check() const;
  void fail(const weft::test::Failure &failure);
  /// Waits for all streams, whether they have failed or not.
  void synchronize();

  CUstream_st &getDefaultStream();

  const int device;
  weft::test::MemoryRange memory;
  std::atomic<CUresult> failure = CUDA_SUCCESS;
  std::atomic<uint64_t> heapBytes = 0, heapLimit = 8 << 20; ///< of malloc in kernels
  std::mutex lock;                                          ///< of what follows
  std::set<CUstream_st *> streams;
  std::set<CUevent_st *> events;
  std::set<CUmod_st *> modules;
  std::set<uint64_t> heap;                         ///< addresses of malloc in kernels
  std::shared_ptr<weft::test::Point> defaultPoint; ///< the last work of the default stream
  std::unique_ptr<CUstream_st> defaultStream;
  int retained = 0;
};

namespace weft::test {

/// As many as WEFT_STAND_IN_GPUS says, 1 if it does not. They live as long as the process.
const std::vector<CUctx_st *> &getContexts();

/// Of the calling thread; null: none is current.
CUctx_st *&currentContext();
/// Throws CUDA_ERROR_INVALID_CONTEXT where there is none, and the failure that the context has.
CUctx_st &getContext();
/// The stream of a handle; null is the default one.
CUstream_st &getStream(CUstream stream);

/// In order with the default stream, where the stream is blocking.
void enqueue(CUstream_st &stream, std::function<void()> work);
void awaitPoint(CUstream_st &stream, const std::shared_ptr<Point> &point);

/// Whether the bytes lie in one allocation of any device or of mapped host memory.
bool isReachable(uint64_t address, uint64_t bytes);

/// The body of an exported function: failures become its result.
template <class Body> CUresult guarded(Body body) {
  try {
    body();
    return CUDA_SUCCESS;
  } catch (const Failure &failure) {
    if (!failure.message.empty())
      report(failure.message);
    return failure.code;
  }
}

/// Throws CUDA_ERROR_INVALID_VALUE.
void require(bool holds, const char *what);

} // namespace weft::test

#endif // WEFT_TEST_CUDA_OBJECTS_H
