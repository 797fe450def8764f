//===- Concurrently.h - independent work on several threads -----*- C++ -*-===//

#ifndef WEFT_DRIVER_CONCURRENTLY_H
#define WEFT_DRIVER_CONCURRENTLY_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <vector>

namespace weft {

/// Does work number 0 to count - 1, each once, on so many threads at most, this one among them.
/// What one number throws is thrown here, when all have ended.
inline void doConcurrently(size_t count, unsigned threads, llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t number = next++; number < count; number = next++)
      work(number);
  };
  std::vector<std::future<void>> others;
  for (size_t thread = 1; thread < std::min<size_t>(threads, count); ++thread)
    others.push_back(std::async(std::launch::async, run));
  run();
  for (std::future<void> &other : others)
    other.get();
}

} // namespace weft

#endif // WEFT_DRIVER_CONCURRENTLY_H
