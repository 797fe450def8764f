#include "test/cuda/BlockThreads.h"

#include <algorithm>
#include <map>

namespace weft::test {

namespace {

constexpr size_t warpSize = 32;
constexpr size_t leastStack = 64 << 10; // bytes

using State = BlockThread::State;

std::string describe(const ptx::Thread &thread) {
  std::string text = "thread (";
  for (int i = 0; i < 3; ++i)
    text += (i ? ", " : "") + std::to_string(thread.tid[i]);
  return text + ")";
}

[[noreturn]] void fail(const std::string &message) {
  throw Failure{CUDA_ERROR_LAUNCH_FAILED, message};
}

} // namespace

BlockThreads::BlockThreads(const Launch &launch)
    : launch(launch), threads(launch.block[0] * launch.block[1] * launch.block[2]) {
  stacks = Stacks::takeOne(threads.size(), leastStack + 2 * launch.localBytes);
}

BlockThreads::~BlockThreads() { Stacks::give(std::move(stacks)); }

void BlockThreads::prepare(ptx::Block &block) {
  for (size_t i = 0; i < threads.size(); ++i) {
    BlockThread &thread = threads[i];
    thread.block = &block;
    thread.tid[0] = i % launch.block[0];
    thread.tid[1] = i / launch.block[0] % launch.block[1];
    thread.tid[2] = i / launch.block[0] / launch.block[1];
    thread.lane = i % warpSize;
    thread.warp = i / warpSize;
    thread.stackLow = stacks->getLow(i);
    thread.stackHigh = stacks->getHigh(i);
    thread.state = State::Ready;
    thread.fibre.start(thread.stackLow, thread.stackHigh, [this, &thread] { runBody(thread); });
  }
  std::fill(std::begin(barriers), std::end(barriers), Barrier());
  living = threads.size();
  failure = nullptr;
}

void BlockThreads::runBody(BlockThread &thread) {
  try {
    launch.kernel(thread, launch.params.data());
  } catch (...) {
    failure = std::current_exception();
  }
  thread.state = State::Ended;
  --living;
}

void BlockThreads::run(ptx::Block &block) {
  prepare(block);
  while (living) {
    bool any = false;
    for (BlockThread &thread : threads) {
      if (thread.state != State::Ready)
        continue;
      any = true;
      thread.fibre.enter();
      if (failure)
        std::rethrow_exception(failure);
      if (thread.state == State::Ended) {
        completeBarriers();
        completeWarp(thread.warp);
      }
    }
    if (!any)
      failStuck();
  }
}

void BlockThreads::leave(BlockThread &thread) {
  if (thread.state != State::Ready)
    thread.fibre.leave();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

uint32_t BlockThreads::waitAtBarrier(BlockThread &thread, uint32_t id, uint32_t count,
                                     uint32_t flags, bool predicate) {
  if (id >= barrierCount)
    fail("expected a barrier within [0, 16), got: " + std::to_string(id));
  if (count % warpSize || count > threads.size())
    fail("a barrier of " + std::to_string(count) + " of " + std::to_string(threads.size()) +
         " threads");
  Barrier &barrier = barriers[id];
  if (flags & ptx::barrierArrive) {
    ++barrier.arrived;
    completeBarrier(id);
    return 0;
  }
  if (barrier.waiting && barrier.count != count)
    fail(describe(thread) + ": a barrier of another number of threads than others wait for");
  ++barrier.waiting;
  barrier.count = count;
  thread.barrier = id;
  thread.site = flags & ptx::barrierAligned ? flags : 0;
  thread.predicate = predicate;
  thread.state = State::AtBarrier;
  completeBarrier(id);
  leave(thread);
  return thread.holds;
}

void BlockThreads::completeBarriers() {
  for (uint32_t id = 0; id < barrierCount; ++id)
    completeBarrier(id);
}

void BlockThreads::completeBarrier(uint32_t id) {
  const Barrier &barrier = barriers[id];
  if (barrier.waiting &&
      barrier.waiting + barrier.arrived >= (barrier.count ? barrier.count : living))
    releaseBarrier(id);
}

void BlockThreads::releaseBarrier(uint32_t id) {
  uint32_t holds = 0;
  for (size_t i = 0; i < threads.size(); ++i) {
    const BlockThread &thread = threads[i];
    if (thread.state != State::AtBarrier || thread.barrier != id)
      continue;
    holds += thread.predicate;
    for (size_t j = i / warpSize * warpSize; j < i; ++j)
      if (threads[j].state == State::AtBarrier && threads[j].barrier == id &&
          threads[j].site != thread.site)
        fail(describe(thread) +
             ": divergent barrier: threads of the warp wait at different instructions");
  }
  for (BlockThread &thread : threads)
    if (thread.state == State::AtBarrier && thread.barrier == id) {
      thread.holds = holds;
      thread.state = State::Ready;
    }
  barriers[id] = Barrier();
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

const uint64_t *BlockThreads::exchange(BlockThread &thread, uint32_t mask, uint64_t value,
                                       uint32_t kind) {
  if (!(mask >> thread.lane & 1))
    fail(describe(thread) + ": not of the mask of its own instruction");
  thread.mask = mask;
  thread.value = value;
  thread.kind = kind;
  thread.state = State::InExchange;
  completeExchange(thread.warp, mask);
  leave(thread);
  return thread.values;
}

void BlockThreads::completeWarp(size_t warp) {
  for (size_t i = warp * warpSize; i < threads.size() && i < (warp + 1) * warpSize; ++i)
    if (threads[i].state == State::InExchange)
      completeExchange(warp, threads[i].mask);
}

void BlockThreads::completeExchange(size_t warp, uint32_t mask) {
  BlockThread *lanes[warpSize] = {};
  uint64_t values[warpSize] = {};
  const BlockThread *first = nullptr;
  for (size_t i = 0; i < warpSize && warp * warpSize + i < threads.size(); ++i) {
    BlockThread &thread = threads[warp * warpSize + i];
    if (!(mask >> i & 1) || thread.state == State::Ended)
      continue;
    first = first ? first : &thread;
    if (thread.state != State::InExchange || thread.mask != mask || thread.kind != first->kind)
      return;
    lanes[i] = &thread;
    values[i] = thread.value;
  }
  for (BlockThread *thread : lanes)
    if (thread) {
      std::copy(std::begin(values), std::end(values), thread->values);
      thread->state = State::Ready;
    }
}

void BlockThreads::failStuck() {
  std::map<std::string, std::pair<int, std::string>>
      groups; // by what they wait for: how many, and the first
  for (const BlockThread &thread : threads) {
    std::string place = thread.state == State::AtBarrier
                            ? "barrier " + std::to_string(thread.barrier)
                            : "lanes of mask " + std::to_string(thread.mask);
    if (thread.state == State::Ended)
      place = "nothing, as they have ended";
    auto &[count, first] = groups[place];
    first = count++ ? first : describe(thread);
  }
  std::string text = "divergent barrier: threads wait for ever";
  for (const auto &[place, group] : groups)
    text += "\n  " + std::to_string(group.first) + " from " + group.second + " on for " + place;
  fail(text);
}

} // namespace weft::test
