//===- PtxAbi.h - between translated kernels and their host -----*- C++ -*-===//
//
// Read by the stand-in and by each kernel that it compiles, so it includes next to nothing: a
// kernel's compilation is most of what loading a module costs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXABI_H
#define WEFT_TEST_CUDA_PTXABI_H

#include <stdint.h>

namespace weft::test::ptx {

inline constexpr uint64_t granule = 1 << 16; ///< of memory, in bytes

/// Addresses that a device reaches (Memory.h).
struct Window {
  uint64_t base, size;
  const uint32_t *valid; ///< of each granule's bytes
};

enum class Space : uint32_t { Generic, Global, Local, Param };

struct Thread;

/// What kernels call.
struct Host {
  /// Looks closer at an access that is not plainly in the device's memory: returns where it is or
  /// ends the kernel with a message.
  uint8_t *(*resolve)(Thread &thread, uint64_t address, uint32_t bytes, Space space);
  /// Ends the kernel.
  void (*fail)(Thread &thread, const char *what);
  /// bar.sync, and with `reduce` the number of threads whose predicate holds; `count` 0: all.
  uint32_t (*barrier)(Thread &thread, uint32_t id, uint32_t count, uint32_t flags, bool predicate);
  /// Waits for the lanes of `mask` and returns what each of the 32 gave.
  const uint64_t *(*exchange)(Thread &thread, uint32_t mask, uint64_t value, uint32_t site);
  uint64_t (*allocate)(Thread &thread, uint64_t bytes);
  void (*free)(Thread &thread, uint64_t address);
};

/// Of `barrier`: the instruction's number, times 4, and these.
inline constexpr uint32_t barrierAligned = 1, barrierArrive = 2;

struct Block {
  const Host *host;
  Window device;
  uint32_t ctaid[3], ntid[3], nctaid[3];
  uint8_t *shared;
  uint32_t sharedBytes, dynamicShared; ///< all, and where dynamic shared memory begins
  const uint8_t *params;
  uint32_t paramBytes;
  uint32_t gridNumber;
  const uint64_t *variables; ///< addresses of the module's, in order
};

struct Thread {
  Block *block;
  uint32_t tid[3], lane, warp;
  uint64_t stackLow, stackHigh; ///< where .local variables lie
};

using Kernel = void (*)(Thread &thread, const uint8_t *params);
/// A .func; results and arguments are as their .param variables.
using Function = void (*)(Thread &thread, uint8_t *result, const uint8_t *const *arguments);

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXABI_H
