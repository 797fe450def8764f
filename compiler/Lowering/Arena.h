//===- Arena.h - offsets of buffers in an arena -----------------*- C++ -*-===//
//
// Buffers that are live at the same time must not overlap; the arena should be small. Decreasing-
// size best fit: the largest buffer first (ties: the longest lived, then the first), each into the
// smallest gap that fits between the buffers already placed whose lifetimes meet its own, else
// behind the last of them. Cost O(n log n + Σ neighbours), neighbours being the placed buffers that
// are live at the same time.
//
// Worked example (ArenaTest.cpp), with the instructions at which buffers live:
//
//   a 512 bytes, 0 to 1    the largest                     at   0
//   b 256 bytes, 1 to 3    beside a: behind it             at 512
//   c 256 bytes, 2 to 3    beside b alone: where a was     at   0
//   d 128 bytes, 0 to 2    beside all of them: behind b    at 768
//
// The arena has 896 bytes, as many as are live at instruction 1.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_ARENA_H
#define WEFT_COMPILER_LOWERING_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace weft {

/// Live at the instructions [first, last].
struct BufferLifetime {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct ArenaPlacement {
  std::vector<int64_t> offsets; ///< bytes, one per buffer, multiples of the alignment
  int64_t bytes = 0;            ///< size of the arena
};

/// Places all buffers; `alignment` is in bytes.
ArenaPlacement placeBuffers(llvm::ArrayRef<BufferLifetime> buffers, int64_t alignment);

/// The most bytes (each rounded up to the alignment) live at once: no arena can be smaller.
int64_t peakLiveBytes(llvm::ArrayRef<BufferLifetime> buffers, int64_t alignment);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_ARENA_H
