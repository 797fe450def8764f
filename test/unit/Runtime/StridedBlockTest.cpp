//===- StridedBlockTest.cpp - parts of files ------------------------------===//

#include "runtime/Io/StridedBlock.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/Hash.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <random>

using namespace weft::runtime;
using weft::test::TemporaryFolder;

namespace {

std::string makeContent(size_t bytes) {
  std::mt19937 random(7);
  std::string content(bytes, '\0');
  for (char &c : content)
    c = static_cast<char>(random());
  return content;
}

void write(const std::string &path, const std::string &content) {
  File::create(path).writeAt(0, content.data(), content.size());
}

std::vector<uint64_t> hashChunks(const std::string &content, uint64_t chunkBytes) {
  std::vector<uint64_t> hashes;
  for (size_t at = 0; at < content.size(); at += chunkBytes)
    hashes.push_back(getHash(content.data() + at, std::min(chunkBytes, content.size() - at)));
  return hashes;
}

int64_t getReach(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides) {
  int64_t reach = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    reach += (shape[i] - 1) * strides[i];
  return reach;
}

/// Calls `visit(file offset, memory offset)` in bytes for each element.
template <typename Visit> void forEach(const StridedBlock &block, Visit visit) {
  int64_t count =
      std::accumulate(block.shape.begin(), block.shape.end(), int64_t(1), std::multiplies<>());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, inFile = block.begin, inMemory = 0;
    for (size_t dim = block.shape.size(); dim-- > 0; rest /= block.shape[dim]) {
      inFile += rest % block.shape[dim] * block.fileStrides[dim] * block.elementSize;
      inMemory += rest % block.shape[dim] * block.memoryStrides[dim] * block.elementSize;
    }
    visit(inFile, inMemory);
  }
}

/// A random block of a row-major tensor in a file: a part of it with its dimensions in any order.
StridedBlock makeBlock(std::mt19937 &random) {
  StridedBlock block;
  block.elementSize = 1 << random() % 4;
  size_t rank = random() % 5;
  std::vector<int64_t> whole(rank), strides(rank), order(rank);
  int64_t step = 1;
  for (size_t i = rank; i-- > 0; step *= whole[i]) {
    whole[i] = 1 + random() % 9;
    strides[i] = step;
  }
  block.begin = random() % 7;
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = 1 + random() % whole[i];
    block.begin += random() % (whole[i] - extent + 1) * strides[i] * block.elementSize;
    block.shape.push_back(extent);
    block.fileStrides.push_back(random() % 8 == 0 ? 0 : strides[i]);
  }
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  block.memoryStrides.resize(rank);
  step = 1;
  for (int64_t dim : order) {
    block.memoryStrides[dim] = step;
    step *= block.shape[dim];
  }
  return block;
}

} // namespace

TEST_CASE("random blocks are read as by hand") {
  TemporaryFolder folder;
  std::string content = makeContent(60000);
  write(folder / "file", content);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    StridedBlock block = makeBlock(random);
    uint64_t chunkBytes = 1 + random() % 300;
    std::vector<uint64_t> hashes = hashChunks(content, chunkBytes);
    BlockReader reader(File::open(folder / "file"), chunkBytes, hashes);
    size_t bytes = (getReach(block.shape, block.memoryStrides) + 1) * block.elementSize;
    std::vector<std::byte> got(bytes), expected(bytes);
    forEach(block, [&](int64_t inFile, int64_t inMemory) {
      std::memcpy(&expected[inMemory], &content[inFile], block.elementSize);
    });
    reader.read(block, got.data());
    REQUIRE(got == expected);
  }
}

TEST_CASE("random blocks are written as by hand") {
  TemporaryFolder folder;
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    StridedBlock block = makeBlock(random);
    std::string content(20000, '\0'),
        memory = makeContent((getReach(block.shape, block.memoryStrides) + 1) * block.elementSize);
    block.fileStrides = block.memoryStrides; // no two elements at one place
    std::reverse(block.memoryStrides.begin(), block.memoryStrides.end());
    std::reverse(block.shape.begin(), block.shape.end());
    std::reverse(block.fileStrides.begin(), block.fileStrides.end());
    write(folder / "file", content);
    forEach(block, [&](int64_t inFile, int64_t inMemory) {
      std::memcpy(&content[inFile], &memory[inMemory], block.elementSize);
    });
    File file = File::openForWriting(folder / "file");
    writeBlock(file, block, reinterpret_cast<const std::byte *>(memory.data()));
    std::string got(content.size(), '\0');
    file.readAt(0, got.data(), got.size());
    REQUIRE(got == content);
  }
}

TEST_CASE("a changed chunk is refused where it is read, and only there") {
  TemporaryFolder folder;
  std::string content = makeContent(10000);
  std::vector<uint64_t> hashes = hashChunks(content, 1000);
  content[4321] ^= 1;
  write(folder / "file", content);
  std::vector<std::byte> memory(10000);
  auto read = [&](int64_t begin, int64_t bytes) {
    BlockReader(File::open(folder / "file"), 1000, hashes)
        .read({begin, 1, {bytes}, {1}, {1}}, memory.data());
  };
  CHECK_NOTHROW(read(0, 4000));
  CHECK_NOTHROW(read(5000, 5000));
  CHECK_THROWS_WITH(read(3999, 2), Catch::Contains("bytes [4000, 5000)"));
  CHECK_THROWS_AS(read(0, 10000), Error);
  CHECK_THROWS_AS(read(4500, 5500), Error);
  CHECK_THROWS_AS(read(9000, 1001), Error);
  hashes[4] = 0; // not checked
  CHECK_NOTHROW(read(0, 10000));
  CHECK(std::memcmp(memory.data(), content.data(), content.size()) == 0);
}
