//===- Fibre.h - threads of a block on one of the host's --------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_FIBRE_H
#define WEFT_TEST_CUDA_FIBRE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace weft::test {

/// Memory for the stacks of a block's threads, each below a page that faults. Used again by later
/// blocks, as making it takes long.
class Stacks {
public:
  Stacks(size_t count, size_t bytes);
  ~Stacks();

  uint64_t getLow(size_t index) const { return base + index * step + pageBytes; }
  uint64_t getHigh(size_t index) const { return base + (index + 1) * step; }

  /// Takes one that is large enough, or makes it; give() puts it back.
  static std::unique_ptr<Stacks> takeOne(size_t count, size_t bytes);
  static void give(std::unique_ptr<Stacks> stacks);

private:
  static constexpr size_t pageBytes = 4096;

  size_t count, step;
  uint64_t base;
};

/// Runs `body`, which must not throw, until it ends or calls leave(); enter() goes on there.
class Fibre {
public:
  void start(uint64_t stackLow, uint64_t stackHigh, std::function<void()> body);
  void enter();
  /// Within the body.
  void leave();
  bool isDone() const { return done; }

private:
  static void run();

  std::function<void()> body;
  bool done = true;
  uint64_t low = 0, high = 0;
#if defined(__x86_64__)
  void *inside = nullptr, *outside = nullptr; ///< stack pointers
#else
  ucontext_t inside, outside;
#endif
  // Of the address sanitizer.
  void *fakeStack = nullptr;
  [[maybe_unused]] const void *outsideLow = nullptr;
  [[maybe_unused]] size_t outsideBytes = 0;
};

} // namespace weft::test

#endif // WEFT_TEST_CUDA_FIBRE_H
