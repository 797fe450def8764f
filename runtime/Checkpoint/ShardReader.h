//===- ShardReader.h - parts of states out of a checkpoint ------*- C++ -*-===//
//
// Reads any box of a state, whichever shards it lies in: the run that wrote them may have had
// another plan, mesh or number of ranks. What is read is held against its chunks' hashes.
//
// Example: a [4, 8] state was written in two blocks of columns, [0, 4) and [4, 8). The rows [2, 4)
// are columns 0 to 4 of the first shard's rows 2 and 3, and those of the second behind them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINT_SHARDREADER_H
#define WEFT_RUNTIME_CHECKPOINT_SHARDREADER_H

#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Io/StridedBlock.h"

#include <map>
#include <span>

namespace weft::runtime {

class ShardReader {
public:
  /// `folder` is the checkpoint's; it and the manifest must outlive the reader. Kind BadInput where
  /// shards are absent or of other sizes.
  ShardReader(const std::string &folder, const Manifest &manifest);

  /// Reads the elements [start, start + shape) of a state to memory of these strides, in elements.
  /// Kind BadInput names a shard that was damaged, or the state where a part of it is missing.
  void read(size_t state, std::span<const int64_t> start, std::span<const int64_t> shape,
            std::span<const int64_t> strides, std::byte *memory);

private:
  struct Place {
    const CheckpointShard *shard;
    const CheckpointBlock *block;
  };
  BlockReader &open(const CheckpointShard &shard);
  void readFrom(const CheckpointShard &shard, const StridedBlock &part, std::byte *memory);

  const std::string &folder;
  const Manifest &manifest;
  std::vector<std::vector<Place>> places; ///< by state
  std::map<const CheckpointShard *, BlockReader> readers;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CHECKPOINT_SHARDREADER_H
