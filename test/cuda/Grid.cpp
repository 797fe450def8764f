#include "test/cuda/Grid.h"

#include "test/cuda/BlockThreads.h"
#include "test/cuda/PtxSupport.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace weft::test {

namespace {

constexpr uint64_t threadsWorthHelp =
    4096; // of a grid, for which other threads of the host are started
constexpr uint64_t plainStack = 4ull << 20; // bytes of the host's stack that a kernel may use
constexpr size_t sharedAlign = 1024;        // bytes

thread_local const Launch *running = nullptr;
thread_local BlockThreads *waiting = nullptr; ///< null: threads run one after the other

std::string join(const uint32_t *three) {
  return "(" + std::to_string(three[0]) + ", " + std::to_string(three[1]) + ", " +
         std::to_string(three[2]) + ")";
}

[[noreturn]] void failAt(ptx::Thread &thread, CUresult code, const std::string &what) {
  throw Failure{code, "kernel " + running->name + ", block " + join(thread.block->ctaid) +
                          ", thread " + join(thread.tid) + ": " + what};
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

bool isWithin(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t size) {
  return address >= begin && size >= bytes && address - begin <= size - bytes;
}

bool isOfThread(ptx::Thread &thread, uint64_t address, uint32_t bytes, ptx::Space space) {
  const ptx::Block &block = *thread.block;
  bool isLocal = isWithin(address, bytes, thread.stackLow, thread.stackHigh - thread.stackLow);
  bool isParam =
      isWithin(address, bytes, reinterpret_cast<uint64_t>(block.params), block.paramBytes);
  switch (space) {
  case ptx::Space::Generic:
    return isLocal || isParam ||
           isWithin(address, bytes, reinterpret_cast<uint64_t>(block.shared), block.sharedBytes);
  case ptx::Space::Param:
    return isLocal || isParam;
  case ptx::Space::Local:
    return isLocal;
  case ptx::Space::Global:
    return false;
  }
  return false;
}

uint8_t *resolve(ptx::Thread &thread, uint64_t address, uint32_t bytes, ptx::Space space) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  std::string where = std::to_string(bytes) + " bytes at " + text;
  if (!ptx::isAligned(address, bytes))
    failAt(thread, CUDA_ERROR_MISALIGNED_ADDRESS, "a misaligned access of " + where);
  bool isGlobal = space == ptx::Space::Generic || space == ptx::Space::Global;
  const ptx::Window &host = getHostMemory().getWindow();
  uint64_t offset = address - host.base;
  bool isHost =
      offset < host.size && offset % ptx::granule + bytes <= host.valid[offset / ptx::granule];
  if (!(isGlobal && isHost) && !isOfThread(thread, address, bytes, space))
    failAt(thread, CUDA_ERROR_ILLEGAL_ADDRESS,
           "an access of " + where + ", where no live memory of this kind is");
  return reinterpret_cast<uint8_t *>(address);
}

void failKernel(ptx::Thread &thread, const char *what) {
  failAt(thread, CUDA_ERROR_LAUNCH_FAILED, what);
}

uint32_t waitAtBarrier(ptx::Thread &thread, uint32_t id, uint32_t count, uint32_t flags,
                       bool predicate) {
  return waiting->waitAtBarrier(static_cast<BlockThread &>(thread), id, count, flags, predicate);
}

const uint64_t *exchange(ptx::Thread &thread, uint32_t mask, uint64_t value, uint32_t kind) {
  return waiting->exchange(static_cast<BlockThread &>(thread), mask, value, kind);
}

/// 0 where the heap has no room, as malloc of a device gives.
uint64_t allocateHeap(ptx::Thread &, uint64_t bytes) {
  CUctx_st &context = *running->context;
  if (context.heapBytes + bytes > context.heapLimit)
    return 0;
  uint64_t address = context.memory.allocate(bytes);
  if (address) {
    context.heapBytes += bytes;
    std::lock_guard guard(context.lock);
    context.heap.insert(address);
  }
  return address;
}

void freeHeap(ptx::Thread &thread, uint64_t address) {
  if (!address)
    return;
  CUctx_st &context = *running->context;
  {
    std::lock_guard guard(context.lock);
    if (!context.heap.erase(address))
      failAt(thread, CUDA_ERROR_ILLEGAL_ADDRESS, "free of what malloc has not given");
  }
  context.heapBytes -= context.memory.getSize(address);
  context.memory.free(address);
}

constexpr ptx::Host host = {resolve, failKernel, waitAtBarrier, exchange, allocateHeap, freeHeap};

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// One of the host's threads that run blocks.
class Worker {
public:
  explicit Worker(const Launch &launch)
      : launch(launch), size(launch.staticShared + launch.dynamicShared) {
    shared.resize(size + 2 * sharedAlign);
    block.host = &host;
    block.device = launch.context->memory.getWindow();
    std::copy_n(launch.block, 3, block.ntid);
    std::copy_n(launch.grid, 3, block.nctaid);
    auto begin = reinterpret_cast<uint64_t>(shared.data());
    block.shared = shared.data() + (sharedAlign - begin % sharedAlign);
    block.sharedBytes = size;
    block.dynamicShared = launch.staticShared;
    block.params = launch.params.data();
    block.paramBytes = launch.params.size();
    block.gridNumber = 1;
    block.variables = launch.variables;
    if (launch.waits)
      threads.emplace(launch);
  }

  void run(uint64_t number) {
    running = &launch;
    block.ctaid[0] = number % launch.grid[0];
    block.ctaid[1] = number / launch.grid[0] % launch.grid[1];
    block.ctaid[2] = number / launch.grid[0] / launch.grid[1];
    std::memset(block.shared, rubbish, size);
    waiting = threads ? &*threads : nullptr;
    if (threads)
      runWaiting();
    else
      runPlain();
  }

private:
  void runWaiting() {
    try {
      threads->run(block);
    } catch (const Failure &failure) {
      bool isPlaced = failure.message.rfind("kernel ", 0) == 0;
      throw isPlaced ? failure
                     : Failure{failure.code, "kernel " + launch.name + ", block " +
                                                 join(block.ctaid) + ": " + failure.message};
    }
  }

  void runPlain() {
    ptx::Thread thread = {};
    thread.block = &block;
    thread.stackHigh = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    thread.stackLow = thread.stackHigh - plainStack;
    uint32_t index = 0;
    for (thread.tid[2] = 0; thread.tid[2] < launch.block[2]; ++thread.tid[2])
      for (thread.tid[1] = 0; thread.tid[1] < launch.block[1]; ++thread.tid[1])
        for (thread.tid[0] = 0; thread.tid[0] < launch.block[0]; ++thread.tid[0], ++index) {
          thread.lane = index % 32;
          thread.warp = index / 32;
          launch.kernel(thread, launch.params.data());
        }
  }

  const Launch &launch;
  uint32_t size;
  std::vector<uint8_t> shared;
  ptx::Block block = {};
  std::optional<BlockThreads> threads;
};

/// Blocks are drawn by workers; the failure of the lowest block counts.
class Blocks {
public:
  explicit Blocks(const Launch &launch)
      : launch(launch), count(uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2]) {}

  void run() {
    uint64_t threads = count * launch.block[0] * launch.block[1] * launch.block[2];
    uint64_t workers = threads < threadsWorthHelp
                           ? 1
                           : std::min<uint64_t>(count, std::thread::hardware_concurrency());
    std::vector<std::thread> others;
    for (uint64_t i = 1; i < workers; ++i)
      others.emplace_back([this] { work(); });
    work();
    for (std::thread &other : others)
      other.join();
    if (failure)
      throw Failure(*failure);
  }

private:
  void work() {
    Worker worker(launch);
    for (uint64_t number; (number = next++) < count && !failed;)
      try {
        worker.run(number);
      } catch (const Failure &why) {
        std::lock_guard guard(lock);
        if (!failure || number < failedBlock)
          failure = why, failedBlock = number;
        failed = true;
      }
  }

  const Launch &launch;
  uint64_t count;
  std::atomic<uint64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex lock; ///< of what follows
  std::optional<Failure> failure;
  uint64_t failedBlock = 0;
};

} // namespace

void runGrid(const Launch &launch) { Blocks(launch).run(); }

} // namespace weft::test
