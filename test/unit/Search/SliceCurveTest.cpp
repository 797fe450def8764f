#include "compiler/Search/SliceCurve.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
/// A slice as a stage of this curve takes it, backward twice as long.
SliceTime take(int64_t length, int64_t context) {
  double seconds =
      5 + 0.5 * double(length) + 0.01 * double(length) * (double(context) + double(length) / 2);
  return {length, context, seconds, 2 * seconds};
}
} // namespace

TEST_CASE("what any slice takes follows from what some took") {
  const SliceTime seen[] = {take(64, 0), take(64, 64), take(32, 0), take(32, 32), take(32, 96)};
  slice::SliceTable table = makeSliceTable(seen, 128, 16);
  REQUIRE(table.units == 8);
  REQUIRE(table.batches.size() == 1);
  for (int64_t end = 1; end <= table.units; ++end)
    for (int64_t context = 0; context < end; ++context) {
      SliceTime expected = take(16 * (end - context), 16 * context);
      size_t at = slice::BatchTimes::getIndex(end, context);
      CHECK(table.batches[0].forward[at] == Approx(expected.forward).epsilon(1e-3));
      CHECK(table.batches[0].backward[at] == Approx(expected.backward).epsilon(1e-3));
    }
}

TEST_CASE("nothing follows from nothing") {
  CHECK(makeSliceTable({}, 128, 16).units == 0);
  const SliceTime forwardAlone[] = {{64, 0, 1, 0}, {64, 64, 2, 0}};
  CHECK(makeSliceTable(forwardAlone, 128, 16).units == 0);
}
