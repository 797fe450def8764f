//===- BlockThreads.h - threads that wait for each other --------*- C++ -*-===//
//
// The threads of a block are fibres, which run one at a time until they end or wait. The last that
// a barrier, or a warp's exchange, was waiting for completes it. Where all that have not ended
// wait, they do so for ever: that is an error, of which the message says who waits where.
//
// Threads that have ended count as arrived, as on the hardware.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_BLOCKTHREADS_H
#define WEFT_TEST_CUDA_BLOCKTHREADS_H

#include "test/cuda/Fibre.h"
#include "test/cuda/Grid.h"

#include <exception>

namespace weft::test {

/// A thread and what it waits for.
struct BlockThread : ptx::Thread {
  enum class State { Ready, AtBarrier, InExchange, Ended };

  Fibre fibre;
  State state = State::Ended;
  // Of a barrier.
  uint32_t barrier = 0, count = 0, site = 0;
  bool predicate = false;
  uint32_t holds = 0; ///< the result: threads whose predicate holds
  // Of an exchange.
  uint32_t mask = 0, kind = 0;
  uint64_t value = 0, values[32];
};

class BlockThreads {
public:
  explicit BlockThreads(const Launch &launch);
  ~BlockThreads();

  /// Throws what a thread threw, or Failure.
  void run(ptx::Block &block);

  /// As of ptx::Host, for the thread that runs.
  uint32_t waitAtBarrier(BlockThread &thread, uint32_t id, uint32_t count, uint32_t flags,
                         bool predicate);
  const uint64_t *exchange(BlockThread &thread, uint32_t mask, uint64_t value, uint32_t kind);

private:
  static constexpr uint32_t barrierCount = 16;

  void prepare(ptx::Block &block);
  void runBody(BlockThread &thread);
  void leave(BlockThread &thread);
  void completeBarriers();
  void completeBarrier(uint32_t id);
  void releaseBarrier(uint32_t id);
  void completeExchange(size_t warp, uint32_t mask);
  void completeWarp(size_t warp);
  [[noreturn]] void failStuck();

  const Launch &launch;
  std::vector<BlockThread> threads;
  std::unique_ptr<Stacks> stacks;
  struct Barrier {
    size_t waiting = 0, arrived = 0; ///< threads; the latter by bar.arrive
    uint32_t count = 0;              ///< of threads that those that wait expect; 0: all
  };
  Barrier barriers[barrierCount];
  size_t living = 0;
  std::exception_ptr failure;
};

} // namespace weft::test

#endif // WEFT_TEST_CUDA_BLOCKTHREADS_H
