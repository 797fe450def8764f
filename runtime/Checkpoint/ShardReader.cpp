//===- ShardReader.cpp - parts of states out of a checkpoint --------------===//

#include "runtime/Checkpoint/ShardReader.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <filesystem>

namespace weft::runtime {

namespace fs = std::filesystem;

/// So many shards are open at a time, each with a chunk in memory.
constexpr size_t maxReaders = 8;

static std::vector<int64_t> getStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

ShardReader::ShardReader(const std::string &folder, const Manifest &manifest)
    : folder(folder), manifest(manifest), places(manifest.states.size()) {
  for (const CheckpointShard &shard : manifest.shards) {
    fs::path path = fs::path(folder) / shard.file;
    std::error_code error;
    uint64_t size = fs::file_size(path, error);
    if (error || size != shard.bytes)
      throwBadInput("the checkpoint '{}' is damaged: '{}' {}, {} bytes are expected", folder,
                    shard.file, error ? "is absent" : fmt::format("has {} bytes", size),
                    shard.bytes);
    for (const CheckpointBlock &block : shard.blocks)
      places[block.state].push_back({&shard, &block});
  }
}

BlockReader &ShardReader::open(const CheckpointShard &shard) {
  if (auto found = readers.find(&shard); found != readers.end())
    return found->second;
  if (readers.size() == maxReaders)
    readers.clear();
  File file = File::open(fs::path(folder) / shard.file);
  return readers.emplace(&shard, BlockReader(std::move(file), shard.chunkBytes, shard.hashes))
      .first->second;
}

void ShardReader::readFrom(const CheckpointShard &shard, const StridedBlock &part,
                           std::byte *memory) {
  try {
    open(shard).read(part, memory);
  } catch (const Error &error) {
    if (error.getKind() != ErrorKind::BadInput)
      throw;
    throwBadInput("the checkpoint '{}' is damaged: '{}' does not hold what was written", folder,
                  shard.file);
  }
}

void ShardReader::read(size_t state, std::span<const int64_t> start, std::span<const int64_t> shape,
                       std::span<const int64_t> strides, std::byte *memory) {
  int64_t elementSize = getElementSize(manifest.states[state].dtype);
  int64_t missing = 1;
  for (int64_t extent : shape)
    missing *= extent;
  for (const Place &place : places[state]) {
    StridedBlock part;
    part.elementSize = elementSize;
    part.fileStrides = getStrides(place.block->shape);
    part.memoryStrides.assign(strides.begin(), strides.end());
    part.begin = static_cast<int64_t>(place.block->offset);
    int64_t offset = 0, elements = 1;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t low = std::max(start[dim], place.block->start[dim]);
      int64_t high =
          std::min(start[dim] + shape[dim], place.block->start[dim] + place.block->shape[dim]);
      part.shape.push_back(std::max<int64_t>(high - low, 0));
      part.begin += (low - place.block->start[dim]) * part.fileStrides[dim] * elementSize;
      offset += (low - start[dim]) * strides[dim];
      elements *= part.shape.back();
    }
    missing -= elements;
    if (elements > 0)
      readFrom(*place.shard, part, memory + offset * elementSize);
  }
  if (missing != 0)
    throwBadInput("the checkpoint '{}' lacks a part of '{}'", folder, manifest.states[state].name);
}

} // namespace weft::runtime
