//===- Extent.h - the extent of one shard -----------------------*- C++ -*-===//
//
// The one place that knows how an extent is divided into blocks. A dimension of n elements in k
// blocks has local extent ceil(n/k); where k does not divide n the last blocks are padded. Padding
// is refused for now: `localExtent` gives nothing, and every user of it must say so with a
// diagnostic (describeIndivisible).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_DIST_IR_EXTENT_H
#define WEFT_DIALECTS_DIST_IR_EXTENT_H

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

/// The extent of each block of `n` elements split in `k`; none where blocks would be padded.
inline std::optional<int64_t> localExtent(int64_t n, int64_t k) {
  if (k < 1 || n % k != 0)
    return std::nullopt;
  return n / k;
}

/// How many elements of block `coordinate` are of the tensor, the rest being padding.
inline int64_t validExtent(int64_t n, int64_t k, int64_t coordinate) {
  int64_t local = (n + k - 1) / k;
  int64_t left = n - coordinate * local;
  return left < 0 ? 0 : left < local ? left : local;
}

/// `size 503 does not divide by axes {"model"} (4 blocks)`.
inline std::string describeIndivisible(int64_t n, int64_t k, const std::string &axes) {
  return "size " + std::to_string(n) + " does not divide by axes " + axes + " (" +
         std::to_string(k) + " blocks)";
}

} // namespace weft

#endif // WEFT_DIALECTS_DIST_IR_EXTENT_H
