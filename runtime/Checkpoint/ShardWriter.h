//===- ShardWriter.h - a rank's blocks in a checkpoint ----------*- C++ -*-===//
//
// A snapshot is the image of a shard's file in memory: what a step copies, and a thread writes
// while further steps run.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINT_SHARDWRITER_H
#define WEFT_RUNTIME_CHECKPOINT_SHARDWRITER_H

#include "runtime/Checkpoint/Manifest.h"

#include <cstddef>
#include <memory>

namespace weft::runtime {

class Snapshot {
public:
  /// With room for these blocks, whose offsets are set.
  Snapshot(const std::vector<CheckpointState> &states, std::vector<CheckpointBlock> blocks);

  size_t getNumBlocks() const { return blocks.size(); }
  /// The first element of a block, row-major.
  std::byte *getData(size_t block) { return image.get() + blocks[block].offset; }

  /// Writes the shard's file under this name in a folder, forces it onto the disk, and tells what
  /// is in it.
  CheckpointShard write(const std::string &folder, const std::string &name) const;

private:
  std::vector<CheckpointBlock> blocks;
  uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> image;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CHECKPOINT_SHARDWRITER_H
