//===- StridedBlock.h - a rank's part of a file -----------------*- C++ -*-===//
//
// A weight shard is a strided, multi-dimensional block of its file, and so is a rank's part of an
// input. Blocks are read in the order of the file through a window of whole chunks, each held
// against its hash as it arrives: memory beyond the destination stays at one window, whatever the
// block's strides.
//
// Example: the rows [2, 4) of the transpose of a row-major f32 matrix [8, 16] at byte 100 of a file
// are the columns 2 and 3: {begin = 100 + 4·2, elementSize = 4, shape = {2, 8}, fileStrides = {1,
// 16}, memoryStrides = {8, 1}}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_IO_STRIDEDBLOCK_H
#define WEFT_RUNTIME_IO_STRIDEDBLOCK_H

#include "runtime/Support/File.h"

#include <span>
#include <vector>

namespace weft::runtime {

/// Strides count elements; `begin` is the byte of the element of index 0 in the file.
struct StridedBlock {
  int64_t begin = 0;
  int64_t elementSize = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> fileStrides;
  std::vector<int64_t> memoryStrides;
};

/// The same elements in the file's order with neighbouring dimensions merged: dimensions of extent
/// 1 are gone, file strides fall. A block of one element has no dimension left.
StridedBlock simplify(const StridedBlock &block);

/// The part of a block from index `start` on, of extents `shape`; its memory begins at its own
/// first element.
StridedBlock getPart(const StridedBlock &block, std::span<const int64_t> start,
                     std::span<const int64_t> shape);

/// Reads blocks of one file.
class BlockReader {
public:
  /// A reader that holds chunks against their hashes; 0 stands for a chunk that is not checked. No
  /// hashes at all: nothing is checked.
  BlockReader(File file, uint64_t chunkBytes, std::span<const uint64_t> hashes);
  explicit BlockReader(File file);

  /// Reads a block to `memory`, where its element of index 0 goes. An Error of kind BadInput names
  /// the file where the block reaches beyond its end or a chunk has changed.
  void read(const StridedBlock &block, std::byte *memory);

private:
  void readRow(int64_t offset, const StridedBlock &block, uint64_t wanted, std::byte *to);
  void readDirectly(int64_t offset, uint64_t bytes, std::byte *to);
  void load(uint64_t offset, uint64_t wantedEnd);
  void check(uint64_t chunk, const std::byte *data, uint64_t bytes);

  File file;
  uint64_t fileSize;
  uint64_t chunkBytes;
  std::span<const uint64_t> hashes;
  std::vector<std::byte> window;
  uint64_t windowBegin = 0;
  uint64_t windowEnd = 0;
};

/// Copies a block of a file that is held in memory.
void copyBlock(const StridedBlock &block, const std::byte *file, std::byte *memory);

/// Writes a block from `memory` into a file, row by row of the file's order.
void writeBlock(File &file, const StridedBlock &block, const std::byte *memory);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_IO_STRIDEDBLOCK_H
