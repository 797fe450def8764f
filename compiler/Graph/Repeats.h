//===- Repeats.h - what repeats in a sequence -------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_GRAPH_REPEATS_H
#define WEFT_COMPILER_GRAPH_REPEATS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace weft {

/// A stretch in which every entry is that of one period before, and that cannot be longer: at least
/// two periods. `abcabcab` repeats with period 3 from 0 to 8.
struct Repeat {
  uint32_t begin = 0, end = 0;
  uint32_t period = 1;

  uint32_t size() const { return end - begin; }
  bool operator==(const Repeat &) const = default;
};

/// All repeats, each with its least period, in order of period and begin. A stretch that repeats
/// with period p has an equal pair of entries p apart at a multiple of p, from which it is followed
/// both ways by hashes: O(n log² n) (Main and Lorentz 1984).
std::vector<Repeat> findRepeats(llvm::ArrayRef<uint64_t> sequence);

} // namespace weft

#endif // WEFT_COMPILER_GRAPH_REPEATS_H
