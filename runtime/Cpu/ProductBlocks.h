//===- ProductBlocks.h - how a product is shared out ------------*- C++ -*-===//
//
// A library's sum for one element depends on the matrix it is asked for: its kernels, and where
// they cut the depth, are chosen by extents. So a product is cut into blocks by its own extents
// alone, never by the number of threads, and every block is one call: threads may differ in number,
// bits may not.
//
//   1024 x 768 of depth 768: 8 blocks of 256 x 384     (604 million multiplications)
//      1 x 768 of depth 768: 2 blocks of 1 x 384       (0.6 million)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_PRODUCTBLOCKS_H
#define WEFT_RUNTIME_CPU_PRODUCTBLOCKS_H

#include <cstdint>

namespace weft::runtime {

/// Blocks of at most rows x columns, row-major over the result.
struct ProductBlocks {
  int64_t rows = 1;    ///< of a block, >= 1
  int64_t columns = 1; ///< of a block, >= 1
  int64_t rowBlocks = 0;
  int64_t columnBlocks = 0;

  int64_t getCount() const { return rowBlocks * columnBlocks; }
};

struct BlockLimits {
  int64_t minRows = 64;           ///< rows are cut into blocks of about this many, or more
  int64_t goodRows = 0;           ///< and of this many, or more, while columns can be cut instead
  int64_t maxColumns = INT64_MAX; ///< no block has more columns (rounded up to a vector's)
  double someBlocks = 8; ///< while packing their operands costs little: enough for eight threads
  bool readsColumns = false; ///< the right factor's, one by one, which takes all the time: blocks
                             ///< of fewer cost nothing, and leave no thread waiting
};

/// The blocks of each of `products` results of rows x columns, sums of `depth` products.
ProductBlocks chooseBlocks(int64_t products, int64_t rows, int64_t columns, int64_t depth,
                           BlockLimits limits = {});

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_PRODUCTBLOCKS_H
