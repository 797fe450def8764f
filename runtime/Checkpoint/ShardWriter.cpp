//===- ShardWriter.cpp - a rank's blocks in a checkpoint ------------------===//

#include "runtime/Checkpoint/ShardWriter.h"

#include "runtime/Io/SafeTensors.h"
#include "runtime/Support/Hash.h"
#include "runtime/Support/OutputFile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/ranges.h>

namespace weft::runtime {

/// What is hashed, and written, at once.
constexpr uint64_t chunkBytes = 4 << 20;

Snapshot::Snapshot(const std::vector<CheckpointState> &states, std::vector<CheckpointBlock> given)
    : blocks(std::move(given)) {
  std::vector<SafeTensor> tensors;
  std::map<std::string, std::string> metadata; // where each block lies, for other readers
  for (const CheckpointBlock &block : blocks) {
    const CheckpointState &state = states[block.state];
    tensors.push_back({state.name, state.dtype, "", block.shape, 0});
    metadata[state.name] = fmt::format("start [{}] of [{}]", fmt::join(block.start, ", "),
                                       fmt::join(state.shape, ", "));
  }
  std::string header = formatSafeTensors(tensors, metadata);
  bytes = header.size();
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].offset = tensors[i].offset;
    bytes = std::max(bytes, tensors[i].offset + getNumBytes(tensors[i]));
  }
  image = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memcpy(image.get(), header.data(), header.size());
}

CheckpointShard Snapshot::write(const std::string &folder, const std::string &name) const {
  CheckpointShard shard{name, bytes, chunkBytes, {}, blocks};
  OutputFile file(std::filesystem::path(folder) / name);
  for (uint64_t at = 0; at < bytes; at += chunkBytes) {
    uint64_t size = std::min(chunkBytes, bytes - at);
    // A hash of 0 would stand for a chunk that is not checked.
    shard.hashes.push_back(std::max<uint64_t>(getHash(image.get() + at, size), 1));
    file.getStaged().writeAt(at, image.get() + at, size);
  }
  file.commit();
  return shard;
}

} // namespace weft::runtime
