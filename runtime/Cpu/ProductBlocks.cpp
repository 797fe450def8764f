//===- ProductBlocks.cpp - how a product is shared out --------------------===//

#include "runtime/Cpu/ProductBlocks.h"

#include <algorithm>

namespace weft::runtime {

namespace {

// In multiplications. A block packs its operands anew, which blocks of these sizes and extents
// hide: each costs at most a few percent more than the same part of one whole product.
constexpr double minBlockWork = 1 << 18;  // some microseconds: what sharing it out costs, ten times
constexpr double maxBlockWork = 1 << 28;  // some milliseconds: no thread waits longer at the end
constexpr double goodBlockWork = 1 << 24; // what packing its operands costs, fifty times
constexpr double fewBlocks = 4;           // however small they get: enough for four threads
constexpr double partElements = 1 << 18;  // of a matrix that is read at the rate of memory
constexpr int64_t minColumns = 96;
constexpr int64_t minExtents = 2; // of blocks beyond limits.someBlocks, times the least of the
                                  // others: of deep products packing costs by extents alone
constexpr int64_t columnMultiple =
    48; // widths of the library's kernels (AVX-512, AVX2, SSE) divide it
constexpr int64_t rowMultiple = 8;

int64_t divideUp(int64_t extent, int64_t parts) { return extent / parts + (extent % parts != 0); }

/// A block's extent where `extent` is cut into about `parts`.
int64_t getStep(int64_t extent, int64_t parts, int64_t multiple) {
  if (parts <= 1)
    return std::max<int64_t>(extent, 1);
  return divideUp(divideUp(extent, parts), multiple) * multiple;
}

} // namespace

ProductBlocks chooseBlocks(int64_t products, int64_t rows, int64_t columns, int64_t depth,
                           BlockLimits limits) {
  double work = double(rows) * double(columns) * double(depth); // of one product
  double total = work * double(products);
  double wanted = std::clamp(total / goodBlockWork, fewBlocks, limits.someBlocks);
  wanted = std::max(wanted, total / maxBlockWork) / std::max<double>(products, 1);
  wanted = std::min(wanted, work / minBlockWork);
  if (limits.readsColumns)
    wanted = double(columns) * double(depth) / partElements;
  int64_t rowParts = 1, columnParts = 1;
  while (2 * double(rowParts) * double(columnParts) <= wanted) {
    int64_t least = double(rowParts) * double(columnParts) < limits.someBlocks ? 1 : minExtents;
    bool rowsMay = rows >= 2 * rowParts * least * limits.minRows;
    bool columnsMay = columns >= 2 * columnParts * least * minColumns;
    bool rowsShould = rowsMay && rows >= 2 * rowParts * least * limits.goodRows;
    // Nearly square blocks read their operands least often.
    if (columnsMay && (!rowsShould || columns / columnParts >= rows / rowParts))
      columnParts *= 2;
    else if (rowsMay)
      rowParts *= 2;
    else
      break;
  }
  ProductBlocks blocks;
  blocks.rows = getStep(rows, rowParts, rowMultiple);
  columnParts = std::max(columnParts, divideUp(columns, limits.maxColumns));
  blocks.columns = getStep(columns, columnParts, columnMultiple);
  blocks.rowBlocks = divideUp(rows, blocks.rows);
  blocks.columnBlocks = divideUp(columns, blocks.columns);
  return blocks;
}

} // namespace weft::runtime
