//===- Memory.h - memory of the devices that there are not ------*- C++ -*-===//
//
// Each device has a range of addresses of its own, and so has host memory that devices can reach.
// An allocation begins at a multiple of `granule` bytes and is followed by an unused granule; a
// table tells for each granule how many of its bytes are allocated. A kernel's access, which is
// aligned and so lies within a granule, is then checked to the byte with one look at the table:
//
//   address - base < size  and  (address - base) % granule + bytes <= valid[(address - base) /
//   granule]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MEMORY_H
#define WEFT_TEST_CUDA_MEMORY_H

#include "test/cuda/PtxAbi.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace weft::test {

inline constexpr int rubbish = 0xa5; ///< what memory holds before it is written

/// A range of addresses and what of it is allocated.
class MemoryRange {
public:
  MemoryRange();

  /// 0: no room.
  uint64_t allocate(uint64_t bytes);
  /// False: not the beginning of an allocation.
  bool free(uint64_t address);
  /// Whether the bytes lie in one allocation.
  bool contains(uint64_t address, uint64_t bytes);
  /// The size of the allocation that begins at `address`; 0: there is none.
  uint64_t getSize(uint64_t address);
  /// Whether the address is of the range, allocated or not.
  bool covers(uint64_t address) const { return address - window.base < window.size; }

  uint64_t getAllocated();
  size_t getCount();
  const ptx::Window &getWindow() const { return window; }

private:
  uint64_t findRoom(uint64_t bytes);
  void mark(uint64_t address, uint64_t bytes, bool valid);

  ptx::Window window;
  uint32_t *valid;
  std::mutex lock; ///< of what follows
  std::map<uint64_t, uint64_t> live;
  uint64_t cursor; ///< where room is looked for: freed addresses are reused as late as may be
  uint64_t allocated = 0;
};

/// Host memory that every device reaches. Lives as long as the process.
MemoryRange &getHostMemory();

} // namespace weft::test

#endif // WEFT_TEST_CUDA_MEMORY_H
