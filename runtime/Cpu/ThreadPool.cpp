//===- ThreadPool.cpp - one rank's share of the cores ---------------------===//

#include "runtime/Cpu/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>

namespace weft::runtime {

namespace {
/// A pool of more than one thread has its cores for itself: the next instruction is mostly this
/// near.
constexpr auto lookBeforeSleep = std::chrono::microseconds(50);
constexpr int64_t chunksPerThread = 4; // evens out threads of unlike speed
} // namespace

void limitLibraryThreads() {
  // Debian's oneDNN runs on OpenMP, whose limit belongs to the calling thread. Sought by name: no
  // OpenMP is linked here.
  if (auto *limit = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    limit(1);
}

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i)
    workers.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard guard(lock);
    ending = true;
    ++round;
  }
  started.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::parallelFor(int64_t total, int64_t grain,
                             const std::function<void(int64_t, int64_t)> &work) {
  grain = std::max<int64_t>(grain, 1);
  if (total <= 0)
    return;
  if (workers.empty() || total <= grain)
    return work(0, total);
  body = &work;
  count = total;
  int64_t chunks = getNumThreads() * chunksPerThread;
  chunk = std::max(grain, (total + chunks - 1) / chunks);
  next = 0;
  busy = static_cast<int>(workers.size());
  {
    std::lock_guard guard(lock);
    failure = nullptr;
    ++round;
  }
  started.notify_all();
  takeRanges();
  while (busy.load(std::memory_order_acquire) > 0)
    std::this_thread::yield();
  if (failure)
    std::rethrow_exception(failure);
}

void ThreadPool::takeRanges() {
  try {
    for (int64_t lo; (lo = next.fetch_add(chunk)) < count;)
      (*body)(lo, std::min(lo + chunk, count));
  } catch (...) {
    std::lock_guard guard(lock);
    if (!failure)
      failure = std::current_exception();
    next = count;
  }
}

void ThreadPool::work() {
  limitLibraryThreads();
  uint64_t seen = 0;
  while (true) {
    auto begin = std::chrono::steady_clock::now();
    while (round.load(std::memory_order_acquire) == seen &&
           std::chrono::steady_clock::now() - begin < lookBeforeSleep)
      std::this_thread::yield();
    if (round.load(std::memory_order_acquire) == seen) {
      std::unique_lock guard(lock);
      started.wait(guard, [&] { return round != seen; });
    }
    seen = round;
    if (ending)
      return;
    takeRanges();
    busy.fetch_sub(1, std::memory_order_release);
  }
}

} // namespace weft::runtime
