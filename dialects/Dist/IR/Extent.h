//===- Extent.h - the extent of one shard -----------------------*- C++ -*-===//
//
// The one place that knows how an extent is divided into blocks. A dimension of n elements in k
// blocks has local extent ceil(n/k), block c starts at c·ceil(n/k), and where k does not divide n
// the last blocks are padded, or hold nothing at all: 5 over 4 is 2, 2, 1, 0.
//
// A dimension that joins others, as (b s) of [5, 3] does, may be divided by whole multiples of a
// unit, so that a split of b is one of it: 15 over 2 in units of 3 is 9, 6.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_DIST_IR_EXTENT_H
#define WEFT_DIALECTS_DIST_IR_EXTENT_H

#include <algorithm>
#include <cstdint>

namespace weft {

/// The extent of each block of `n` elements split in `k` (≥ 1), a multiple of `unit`, which divides
/// `n`.
inline int64_t localExtent(int64_t n, int64_t k, int64_t unit = 1) {
  return (n / unit + k - 1) / k * unit;
}

/// Whether the blocks together hold more than `n` elements.
inline bool isPadded(int64_t n, int64_t k, int64_t unit = 1) { return n / unit % k != 0; }

/// How many elements of block `coordinate`, of extent `local`, are of the tensor, the rest being
/// padding.
inline int64_t validExtent(int64_t n, int64_t local, int64_t coordinate) {
  return std::clamp<int64_t>(n - coordinate * local, 0, local);
}

} // namespace weft

#endif // WEFT_DIALECTS_DIST_IR_EXTENT_H
