//===- Limits.h - how much a small file may ask for -------------*- C++ -*-===//
//
// Sizes in a model cost nothing to write down. Where an importer makes a list, a matrix or a chain
// of operations of such a size, it is bounded first, far above what models have.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_LIMITS_H
#define WEFT_FRONTENDS_COMMON_LIMITS_H

#include "frontends/common/Types.h"
#include "llvm/Support/MathExtras.h"

namespace weft::frontend {

/// Positions that an importer lists in a constant, of 8 bytes each.
constexpr int64_t maxListedPositions = 1 << 24;
/// Elements of a matrix of weights; held as doubles while it is made.
constexpr int64_t maxMatrixElements = 1 << 25;
/// Elements of a window whose extreme is to be found: each costs several operations.
constexpr int64_t maxSearchedWindow = 1 << 12;

/// Throws ImportError where `windows` windows of `size` elements, both 0 or more, have more
/// positions than are listed.
inline void checkPositions(int64_t windows, int64_t size) {
  if (llvm::SaturatingMultiply<uint64_t>(windows, size) > uint64_t(maxListedPositions))
    throw ImportError(std::to_string(windows) + " windows of " + std::to_string(size) +
                      " elements are too many to be listed");
}

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_LIMITS_H
