#include "runtime/Measure/Measure.h"

#include "runtime/Cpu/Gemm.h"
#include "runtime/Cpu/ThreadPool.h"
#include "runtime/Measure/Clock.h"
#include "runtime/Support/Cores.h"

#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

namespace weft::runtime {

void keepFaster(std::vector<Timing> &timings, const std::vector<Timing> &again) {
  for (const Timing &timing : again) {
    auto found = std::find_if(timings.begin(), timings.end(),
                              [&](const Timing &known) { return known.at == timing.at; });
    if (found == timings.end())
      timings.push_back(timing);
    else
      found->seconds = std::min(found->seconds, timing.seconds);
  }
}

static Matrix makeMatrix(std::vector<float> &storage, int64_t rows, int64_t columns) {
  storage.assign(rows * columns, 1.0F);
  return {reinterpret_cast<std::byte *>(storage.data()), rows, columns, columns, 1};
}

/// Calls `measure` on so many threads at the same time; what the slowest of them takes.
static double measureTogether(int cores, const std::function<double()> &measure) {
  std::mutex lock;
  double slowest = 0;
  std::vector<std::thread> threads;
  for (int core = 0; core < cores; ++core)
    threads.emplace_back([&] {
      double least = measure();
      std::lock_guard guard(lock);
      slowest = std::max(slowest, least);
    });
  for (std::thread &thread : threads)
    thread.join();
  return slowest;
}

static double measureMatmul(int64_t m, int64_t n, int64_t k, double budget) {
  limitLibraryThreads();
  std::vector<float> storage[3];
  Matrix a = makeMatrix(storage[0], m, k), b = makeMatrix(storage[1], k, n),
         c = makeMatrix(storage[2], m, n);
  // Batches of a tenth of a millisecond or more, for the clock's sake.
  int batch = static_cast<int>(std::clamp<int64_t>(2'000'000 / (m * n * k), 1, 1000));
  return getLeast(budget, batch, [&] { multiply(a, b, c, /*accumulate=*/false); });
}

std::vector<Timing> measureMatmuls(const std::vector<std::vector<int64_t>> &shapes, double budget) {
  std::vector<Timing> timings;
  for (const std::vector<int64_t> &shape : shapes)
    timings.push_back({shape, measureTogether(getNumCores(), [&] {
                         return measureMatmul(shape[0], shape[1], shape[2], budget);
                       })});
  return timings;
}

static double measureCopy(int64_t bytes, double budget) {
  std::vector<char> from(bytes, 1), to(bytes, 2);
  int batch = static_cast<int>(std::clamp<int64_t>((1 << 20) / bytes, 1, 1000));
  return getLeast(budget, batch, [&] {
    std::memcpy(to.data(), from.data(), bytes);
    asm volatile("" : : "r"(to.data()) : "memory"); // the copy is used
  });
}

std::vector<Timing> measureCopies(const std::vector<int64_t> &sizes, double budget) {
  std::vector<Timing> timings;
  for (int64_t bytes : sizes)
    timings.push_back(
        {{bytes}, measureTogether(getNumCores(), [&] { return measureCopy(bytes, budget); })});
  return timings;
}

std::vector<Timing> measureLaunches(const std::vector<int64_t> &threads, double budget) {
  std::vector<Timing> timings;
  for (int64_t count : threads) {
    ThreadPool pool(static_cast<int>(count));
    auto nothing = [](int64_t lo, int64_t hi) { asm volatile("" : : "r"(lo), "r"(hi) : "memory"); };
    double least =
        getLeast(budget, 200, [&] { pool.parallelFor(/*count=*/count, /*grain=*/1, nothing); });
    timings.push_back({{count}, least});
  }
  return timings;
}

} // namespace weft::runtime
