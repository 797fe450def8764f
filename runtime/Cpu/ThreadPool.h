//===- ThreadPool.h - one rank's share of the cores -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_THREADPOOL_H
#define WEFT_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::runtime {

/// Threads that work on ranges together with the thread that asks. A rank has one pool; generated
/// kernels and library calls run on it alone (libraries' own threads are held at one, see
/// limitLibraryThreads).
class ThreadPool {
public:
  /// `threads` includes the calling thread: a pool of 1 starts none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int getNumThreads() const { return static_cast<int>(workers.size()) + 1; }

  /// Calls `body(lo, hi)` for disjoint ranges that cover [0, count), each of `grain` or more but
  /// for the last. The first exception of any range is thrown again here, when all are done.
  void parallelFor(int64_t count, int64_t grain,
                   const std::function<void(int64_t lo, int64_t hi)> &body);

private:
  void work();
  void takeRanges();

  std::vector<std::thread> workers;
  const std::function<void(int64_t, int64_t)> *body = nullptr;
  int64_t count = 0;
  int64_t chunk = 1;
  std::atomic<int64_t> next = 0;
  std::atomic<int> busy = 0; ///< workers that may still hold a range
  std::atomic<uint64_t> round = 0;
  std::atomic<bool> ending = false;
  std::mutex lock; ///< of `started` and `failure`
  std::condition_variable started;
  std::exception_ptr failure;
};

/// Holds oneDNN's OpenMP runtime to one thread when called from this thread.
void limitLibraryThreads();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_THREADPOOL_H
