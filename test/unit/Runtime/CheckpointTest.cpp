//===- CheckpointTest.cpp - checkpoints without a run ---------------------===//

#include "runtime/Checkpoint/CheckpointFolder.h"
#include "runtime/Checkpoint/ShardReader.h"
#include "runtime/Checkpoint/ShardWriter.h"
#include "runtime/Io/SafeTensors.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/OutputFile.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

using namespace weft::runtime;
using weft::test::TemporaryFolder;
namespace program = weft::program;
namespace fs = std::filesystem;

namespace {

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<int64_t> getStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Calls `visit` with each index of a box.
template <typename Visit>
void forEachIndex(const std::vector<int64_t> &start, const std::vector<int64_t> &shape,
                  Visit visit) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t number = 0; number < count; ++number) {
    std::vector<int64_t> index = start;
    int64_t rest = number;
    for (size_t dim = shape.size(); dim-- > 0;) {
      index[dim] += rest % shape[dim];
      rest /= shape[dim];
    }
    visit(number, index);
  }
}

/// An element's row-major number in its state: what the tests store in it.
int64_t getNumber(const std::vector<int64_t> &index, const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides = getStrides(shape);
  int64_t number = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    number += index[dim] * strides[dim];
  return number;
}

/// Cuts a state into boxes at random, and gives each to a random rank.
void cut(size_t state, const std::vector<int64_t> &start, const std::vector<int64_t> &shape,
         int depth, std::mt19937 &random, std::vector<std::vector<CheckpointBlock>> &ranks) {
  size_t dim = shape.empty() ? 0 : random() % shape.size();
  if (depth == 0 || shape.empty() || shape[dim] < 2) {
    ranks[random() % ranks.size()].push_back({state, start, shape, 0});
    return;
  }
  int64_t at = 1 + static_cast<int64_t>(random() % (shape[dim] - 1));
  std::vector<int64_t> low = shape, high = shape, behind = start;
  low[dim] = at;
  high[dim] -= at;
  behind[dim] += at;
  cut(state, start, low, depth - 1, random, ranks);
  cut(state, behind, high, depth - 1, random, ranks);
}

/// Shards of states that hold their elements' numbers. A file has each name once: of several boxes
/// of a state each goes to a shard of its own.
Manifest writeShards(const std::string &folder, const std::vector<CheckpointState> &states,
                     std::mt19937 &random) {
  std::vector<std::vector<CheckpointBlock>> ranks(3);
  for (size_t i = 0; i < states.size(); ++i)
    cut(i, std::vector<int64_t>(states[i].shape.size(), 0), states[i].shape, 3, random, ranks);
  Manifest manifest{7, {"tokens", 3, 96, "source"}, states, {}};
  for (const std::vector<CheckpointBlock> &blocks : ranks)
    for (const CheckpointBlock &block : blocks) {
      Snapshot snapshot(states, {block});
      auto *data = reinterpret_cast<int64_t *>(snapshot.getData(0));
      forEachIndex(block.start, block.shape,
                   [&](int64_t number, const std::vector<int64_t> &index) {
                     data[number] = getNumber(index, states[block.state].shape);
                   });
      manifest.shards.push_back(
          snapshot.write(folder, fmt::format("rank-{}.safetensors", manifest.shards.size())));
    }
  return manifest;
}

const std::vector<CheckpointState> states = {{"matrix", program::I64, {7, 9}},
                                             {"cube", program::I64, {3, 4, 5}},
                                             {"step", program::I64, {}},
                                             {"row", program::I64, {1, 6}}};

} // namespace

TEST_CASE("a manifest is read as it was written, and refused where any bit was changed") {
  TemporaryFolder folder;
  std::mt19937 random(1);
  Manifest manifest = writeShards(folder.getPath(), states, random);
  std::string path = folder / "manifest.json", text = formatManifest(manifest);
  writeOutput(path, text);
  CHECK(formatManifest(readManifest(path)) == text);
  CHECK(formatShard(parseShard(formatShard(manifest.shards[0]))) ==
        formatShard(manifest.shards[0]));
  for (size_t at = 0; at < text.size() - 1; at += 3) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 7)));
    writeOutput(path, changed);
    INFO(at);
    CHECK_THROWS_WITH(readManifest(path), Catch::Contains("is not the manifest of a checkpoint"));
  }
  for (std::string other :
       {text.substr(0, text.size() / 2), std::string(), std::string("[1]"),
        std::string(R"({"format":3,"version":1})"),
        std::string(R"({"format":"weft checkpoint","version":"x"})"),
        std::string(R"({"format":"weft checkpoint","version":1,"checksum":2})")}) {
    writeOutput(path, other);
    INFO(other);
    CHECK_THROWS_WITH(readManifest(path), Catch::Contains("is not the manifest of a checkpoint"));
  }
}

TEST_CASE("any box is read from any cut") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    TemporaryFolder folder;
    std::mt19937 random(seed);
    Manifest manifest = writeShards(folder.getPath(), states, random);
    ShardReader reader(folder.getPath(), manifest);
    for (size_t state = 0; state < states.size(); ++state) {
      const std::vector<int64_t> &whole = states[state].shape;
      std::vector<int64_t> start, shape;
      for (int64_t extent : whole) {
        start.push_back(static_cast<int64_t>(random() % extent));
        shape.push_back(1 + static_cast<int64_t>(random() % (extent - start.back())));
      }
      std::vector<int64_t> strides = getStrides(shape);
      std::vector<int64_t> memory(1000, -1);
      reader.read(state, start, shape, strides, reinterpret_cast<std::byte *>(memory.data()));
      forEachIndex(start, shape, [&](int64_t number, const std::vector<int64_t> &index) {
        CHECK(memory[number] == getNumber(index, whole));
      });
    }
  }
}

TEST_CASE("a shard is a plain file of tensors that says where they lie") {
  TemporaryFolder folder;
  Snapshot snapshot(states, {{0, {2, 0}, {5, 9}, 0}, {2, {}, {}, 0}});
  std::memset(snapshot.getData(0), 0, 5 * 9 * 8);
  std::memset(snapshot.getData(1), 0, 8);
  CheckpointShard shard = snapshot.write(folder.getPath(), "rank-0.safetensors");
  std::vector<SafeTensor> tensors = readSafeTensors(folder / "rank-0.safetensors");
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "matrix");
  CHECK(tensors[0].shape == std::vector<int64_t>{5, 9});
  CHECK(tensors[0].offset == shard.blocks[0].offset);
  CHECK_THAT(read(folder / "rank-0.safetensors"), Catch::Contains("start [2, 0] of [7, 9]"));
}

TEST_CASE("what is missing or damaged in shards is found where it is read") {
  TemporaryFolder folder;
  std::mt19937 random(5);
  Manifest manifest = writeShards(folder.getPath(), states, random);
  std::vector<int64_t> memory(63);
  auto readMatrix = [&](const Manifest &from) {
    ShardReader(folder.getPath(), from)
        .read(0, std::vector<int64_t>{0, 0}, std::vector<int64_t>{7, 9}, std::vector<int64_t>{9, 1},
              reinterpret_cast<std::byte *>(memory.data()));
  };
  readMatrix(manifest);
  size_t holder = 0; // a shard of the matrix
  while (manifest.shards[holder].blocks[0].state != 0)
    ++holder;
  Manifest less = manifest;
  less.shards.erase(less.shards.begin() + static_cast<int64_t>(holder));
  CHECK_THROWS_WITH(readMatrix(less), Catch::Contains("lacks a part of 'matrix'"));
  std::string path = folder / manifest.shards[holder].file, bytes = read(path);
  bytes[bytes.size() - 1] ^= 4;
  writeOutput(path, bytes);
  CHECK_THROWS_WITH(readMatrix(manifest), Catch::Contains("does not hold what was written"));
  writeOutput(path, bytes.substr(1));
  CHECK_THROWS_WITH(readMatrix(manifest), Catch::Contains("bytes are expected"));
  fs::remove(path);
  CHECK_THROWS_WITH(readMatrix(manifest), Catch::Contains("is absent"));
}

TEST_CASE("checkpoints of other models are refused by name") {
  std::vector<CheckpointState> other = states;
  checkStates("c", other, states);
  std::swap(other[0], other[1]);
  checkStates("c", other, states); // in another order
  other[1].shape = {7, 10};
  other[2].dtype = program::F32;
  other[3].name = "column";
  CHECK_THROWS_WITH(checkStates("c", other, states),
                    "the checkpoint 'c' is of another model or optimizer: 'matrix' is i64 [7, 10] "
                    "there and i64 [7, 9] here, 'step' is f32 [] there and i64 [] here, it lacks "
                    "'row', it holds 'column', which the program has not");
}

TEST_CASE("a checkpoint is complete with its manifest, and kept while it is among the latest") {
  TemporaryFolder temporary;
  std::string path = temporary / "c";
  CheckpointFolder folder(path);
  CHECK(folder.list().empty());
  folder.take();
  std::mt19937 random(2);
  for (int64_t step : {5, 10, 100000000, 20}) {
    folder.begin(step);
    Manifest manifest = writeShards(folder.getPath(step), states, random);
    manifest.step = step;
    folder.complete(manifest);
  }
  folder.begin(30); // and killed
  writeOutput(folder.getPath(30) + "/rank-0.safetensors", "half");
  fs::create_directory(path + "/step-of-mine");
  CHECK(folder.list() == std::vector<int64_t>{5, 10, 20, 100000000});
  CHECK_THROWS_WITH(CheckpointFolder(path).take(), Catch::Contains("another run writes"));
  folder = CheckpointFolder(path); // lets go
  CheckpointFolder next(path);
  next.take();
  CHECK_FALSE(fs::exists(next.getPath(30)));
  next.prune(2);
  CHECK(next.list() == std::vector<int64_t>{20, 100000000});
  CHECK_FALSE(fs::exists(next.getPath(5)));
  CHECK(fs::exists(path + "/step-of-mine"));
}
