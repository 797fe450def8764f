//===- Manifest.h - what a checkpoint says of itself ------------*- C++ -*-===//
//
// A checkpoint is a folder of shards, .safetensors files of blocks of states, and a manifest, which
// is written last: without it there is no checkpoint. The manifest is JSON:
//
//   {"format": "weft checkpoint", "version": 1, "step": 20,
//    "data": {"kind": "tokens", "seed": 7, "position": 640, "source": "u16, 65536 tokens, …"},
//    "states": [{"name": "h0.up", "dtype": "f32", "shape": [64, 256]}, …],
//    "shards": [{"file": "rank-0-of-4-1f6c09ab.safetensors", "bytes": 66048,
//                "chunk_bytes": 4194304, "hashes": ["a41f…"],
//                "blocks": [{"state": 0, "start": [0, 128], "shape": [64, 128], "offset": 512},
//                           …]},
//               …],
//    "checksum": "…"}
//
// `start` and `shape` say which block of the whole tensor lies, row-major, at byte `offset` of the
// shard; together the blocks of a state are the whole of it. `hashes` are those of the shard's
// chunks, the checksum is that of the text without it (Hash.h). So a checkpoint can be read under
// another plan, mesh or number of ranks, and what was damaged is found where it is read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINT_MANIFEST_H
#define WEFT_RUNTIME_CHECKPOINT_MANIFEST_H

#include "runtime/Support/DType.h"

#include <string>
#include <vector>

namespace weft::runtime {

struct CheckpointState {
  std::string name;
  DType dtype = program::DTYPE_UNKNOWN;
  std::vector<int64_t> shape;

  bool operator==(const CheckpointState &other) const = default;
};

struct CheckpointBlock {
  size_t state = 0; ///< index into Manifest::states
  std::vector<int64_t> start;
  std::vector<int64_t> shape;
  uint64_t offset = 0; ///< bytes from the shard's start
};

struct CheckpointShard {
  std::string file; ///< in the checkpoint's folder
  uint64_t bytes = 0;
  uint64_t chunkBytes = 0;
  std::vector<uint64_t> hashes; ///< of chunks
  std::vector<CheckpointBlock> blocks;
};

/// Where the run was in its data.
struct DataPosition {
  std::string kind; ///< "npz", "tokens"
  uint64_t seed = 0;
  int64_t position = 0; ///< steps, or rows, that were read
  std::string source;   ///< what must be the same for the position to mean the same
};

struct Manifest {
  int64_t step = 0; ///< steps that were done
  DataPosition data;
  std::vector<CheckpointState> states;
  std::vector<CheckpointShard> shards;
};

std::string formatManifest(const Manifest &manifest);
/// An Error of kind BadInput names the file where it is damaged, or of another version.
Manifest readManifest(const std::string &path);

/// One shard's entry, for ranks to tell each other.
std::string formatShard(const CheckpointShard &shard);
CheckpointShard parseShard(const std::string &text);

/// What is different about the states of a checkpoint at `path` and those of the program; an Error
/// of kind BadInput names all of it. Their order may differ.
void checkStates(const std::string &path, const std::vector<CheckpointState> &saved,
                 const std::vector<CheckpointState> &wanted);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CHECKPOINT_MANIFEST_H
