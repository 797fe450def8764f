#include "compiler/Lowering/Arena.h"
#include "compiler/Lowering/Strides.h"

#include <catch2/catch.hpp>
#include <random>

using namespace weft;

static std::vector<BufferLifetime> randomBuffers(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::vector<BufferLifetime> buffers;
  for (int i = 0; i < count; ++i) {
    int64_t first = i, last = i + random() % 12;
    buffers.push_back({static_cast<int64_t>(random() % 5000), first, last});
  }
  return buffers;
}

TEST_CASE("buffers that live at the same time do not overlap") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<BufferLifetime> buffers = randomBuffers(seed, 300);
    ArenaPlacement placement = placeBuffers(buffers, 64);
    for (size_t a = 0; a < buffers.size(); ++a) {
      REQUIRE(placement.offsets[a] % 64 == 0);
      REQUIRE(placement.offsets[a] + buffers[a].bytes <= placement.bytes);
      for (size_t b = 0; b < a; ++b) {
        bool apart = buffers[a].last < buffers[b].first || buffers[b].last < buffers[a].first;
        bool disjoint = placement.offsets[a] + buffers[a].bytes <= placement.offsets[b] ||
                        placement.offsets[b] + buffers[b].bytes <= placement.offsets[a];
        REQUIRE((apart || disjoint));
      }
    }
    int64_t peak = peakLiveBytes(buffers, 64);
    CHECK(placement.bytes >= peak);
    CHECK(placement.bytes <= peak * 5 / 4);
  }
}

TEST_CASE("the worked example of Arena.h") {
  std::vector<BufferLifetime> buffers{{512, 0, 1}, {256, 1, 3}, {256, 2, 3}, {128, 0, 2}};
  ArenaPlacement placement = placeBuffers(buffers, 64);
  CHECK(llvm::ArrayRef<int64_t>(placement.offsets) == llvm::ArrayRef<int64_t>{0, 512, 0, 768});
  CHECK(placement.bytes == 896);
  CHECK(peakLiveBytes(buffers, 64) == 896);
}

TEST_CASE("a chain of equal buffers takes two places") {
  std::vector<BufferLifetime> chain;
  for (int64_t i = 0; i < 100; ++i)
    chain.push_back({256, i, i + 1});
  CHECK(placeBuffers(chain, 64).bytes == 512);
}

TEST_CASE("a hundred thousand buffers are placed") {
  std::vector<BufferLifetime> buffers = randomBuffers(1, 100000);
  ArenaPlacement placement = placeBuffers(buffers, 64);
  CHECK(placement.bytes > 0);
}

TEST_CASE("loops merge where every operand walks them as one") {
  llvm::SmallVector<LoopDim> merged = mergeLoops({{4, {32, 64}}, {8, {4, 8}}, {1, {0, 0}}}, 0);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].extent == 32);
  merged = mergeLoops({{4, {32, 1}}, {8, {4, 8}}}, 0);
  CHECK(merged.size() == 2);
}

TEST_CASE("dense blocks have no gaps in any order") {
  CHECK(isDense({2, 3, 4}, {1, 8, 2}));
  CHECK(!isDense({2, 3}, {1, 4}));
  CHECK(!isDense({2, 3}, {0, 1}));
  CHECK(footprint({2, 3}, {8, 2}) == 13);
  CHECK(storedElements({2, 3}, {0, 1}) == 3);
}
