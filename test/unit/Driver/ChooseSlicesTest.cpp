#include "driver/ChooseSlices.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace weft;

namespace {
/// What equal slices take of a stage: a token one second, and each pair of tokens a little.
void take(int64_t tokens, int64_t count, std::vector<SliceTime> &seen) {
  for (int64_t length = tokens / count, context = 0; context + length <= tokens;
       context += length) {
    auto size = static_cast<double>(length);
    double seconds = 1 + size + 0.01 * size * (static_cast<double>(context) + size / 2);
    seen.push_back({length, context, seconds, 2 * seconds});
  }
}

std::vector<SliceTime> takeEqual(int64_t tokens) {
  std::vector<SliceTime> seen;
  take(tokens, 2, seen);
  take(tokens, 4, seen);
  return seen;
}
} // namespace

TEST_CASE("slices behind others, whose attention reads them, are no longer than the first") {
  std::vector<int64_t> lengths = chooseSliceLengths(takeEqual(1024), 1024, 8, 1);
  REQUIRE(lengths.size() > 1);
  CHECK(std::accumulate(lengths.begin(), lengths.end(), int64_t(0)) == 1024);
  CHECK(lengths.front() > lengths.back());
}

TEST_CASE("slices of one length do not tell") {
  std::vector<SliceTime> seen;
  take(1024, 4, seen);
  CHECK(chooseSliceLengths(seen, 1024, 8, 1).empty());
}

TEST_CASE("one stage has sequences whole") {
  CHECK(chooseSliceLengths(takeEqual(1024), 1024, 1, 4).empty());
}

TEST_CASE("a long sequence that no units divide is left as it is, at once") {
  CHECK(chooseSliceLengths(takeEqual(1 << 20), (1 << 20) + 7, 8, 1).empty());
  CHECK(chooseSliceLengths({}, 1024, 8, 1).empty());
}
