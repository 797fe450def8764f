#include "compiler/Sharding/Axes.h"
#include "dialects/Dist/IR/Extent.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
const MeshShape mesh{"mesh", {{"x", 4}, {"y", 6}}};
const AxisRef x = fullAxis(mesh, 0), y = fullAxis(mesh, 1);
const AxisRef xMajor{0, 1, 2}, xMinor{0, 2, 2};
} // namespace

TEST_CASE("sub-axes that follow each other join again") {
  AxisList list;
  append(list, xMajor);
  append(list, xMinor);
  CHECK(list == AxisList{x});
  append(list, y);
  CHECK(list == AxisList{x, y});
  AxisList swapped;
  append(swapped, xMinor);
  append(swapped, xMajor);
  CHECK(swapped == AxisList{xMinor, xMajor});
}

TEST_CASE("references overlap where they share a digit") {
  CHECK(overlaps(x, xMajor));
  CHECK(overlaps(x, xMinor));
  CHECK_FALSE(overlaps(xMajor, xMinor));
  CHECK_FALSE(overlaps(x, y));
}

TEST_CASE("the head of a list splits an axis where it must") {
  CHECK(head({x, y}, 8) == AxisList{x, {1, 1, 2}});
  CHECK(head({x, y}, 2) == AxisList{xMajor});
  CHECK(head({x, y}, 1) == AxisList{});
  CHECK_FALSE(head({x, y}, 3));
  CHECK_FALSE(head({x, y}, 48));
}

TEST_CASE("the rest of a list counts sub-axes as the beginning of their axis") {
  CHECK(rest({x, y}, {x}) == AxisList{y});
  CHECK(rest({x, y}, {xMajor}) == AxisList{xMinor, y});
  CHECK(rest({x}, {}) == AxisList{x});
  CHECK(rest({x}, {xMajor, xMinor}) == AxisList{});
  CHECK_FALSE(rest({x, y}, {y}));
  CHECK_FALSE(rest({xMajor}, {x}));
}

TEST_CASE("the common head is what both begin with") {
  CHECK(commonHead({x, y}, {xMajor}) == AxisList{xMajor});
  CHECK(commonHead({x, y}, {xMajor, xMinor, {1, 1, 3}}) == AxisList{x, {1, 1, 3}});
  CHECK(commonHead({x}, {y}).empty());
}

TEST_CASE("shardings are printed as in the attribute") {
  TensorSharding sharding{{{x}, {}, {{1, 2, 3}}}, {}, ReduceKind::Sum};
  CHECK(str(mesh, sharding) == R"([{"x"}, {}, {"y":(2)3}])");
  sharding.dims[0].clear();
  sharding.partial = {x};
  sharding.reduction = ReduceKind::Max;
  CHECK(str(mesh, sharding) == R"([{}, {}, {"y":(2)3}] partial = max{"x"})");
  sharding = {{{x}, inUnits({x}, 15, 3)}, {}, ReduceKind::Sum};
  CHECK(str(mesh, sharding) == R"([{"x"}, {"x"} unit 3])");
}

/// What each of `k` blocks holds of `n` elements.
static std::vector<int64_t> blocksOf(int64_t n, int64_t k, int64_t unit = 1) {
  std::vector<int64_t> valid;
  for (int64_t block = 0; block < k; ++block)
    valid.push_back(validExtent(n, localExtent(n, k, unit), block));
  return valid;
}

TEST_CASE("blocks that do not divide an extent are padded") {
  using Blocks = std::vector<int64_t>;
  CHECK(blocksOf(12, 4) == Blocks{3, 3, 3, 3});
  CHECK(blocksOf(5, 4) == Blocks{2, 2, 1, 0});
  CHECK(blocksOf(50257, 3) == Blocks{16753, 16753, 16751});
  CHECK(blocksOf(1, 3) == Blocks{1, 0, 0});
  CHECK(blocksOf(0, 3) == Blocks{0, 0, 0});
  CHECK(blocksOf(15, 2, 3) == Blocks{9, 6}); // [5, 3] seen as one dimension
  CHECK_FALSE(isPadded(12, 4));
  CHECK(isPadded(20, 2, 4)); // though 2 divides 20
  CHECK(inUnits({x}, 12, 3).unit == 1);
  CHECK(inUnits({x}, 15, 3).unit == 3);
}

TEST_CASE("all of a list is also of one unit") {
  AxisList rows = inUnits({x}, 15, 3), elements = inUnits({x}, 15, 1);
  CHECK(rest(rows, rows) == AxisList{});
  CHECK_FALSE(rest(rows, elements));
  CHECK(rest(rows, {}) == AxisList{x});
}
