#include "compiler/Cluster/Units.h"

#include <catch2/catch.hpp>

using namespace weft;

TEST_CASE("units have prefixes of their dimension") {
  CHECK(getUnitFactor("GB/s", Dimension::BytesPerSecond) == 1e9);
  CHECK(getUnitFactor("Gbit/s", Dimension::BytesPerSecond) == 1.25e8);
  CHECK(getUnitFactor("GiB", Dimension::Bytes) == 1073741824.0);
  CHECK(getUnitFactor("TFLOP/s", Dimension::FlopPerSecond) == 1e12);
  CHECK(getUnitFactor("us", Dimension::Seconds) == 1e-6);
  CHECK(getUnitFactor("1", Dimension::Number) == 1.0);
}

TEST_CASE("units of other dimensions, and none, are refused") {
  CHECK_FALSE(getUnitFactor("GB", Dimension::BytesPerSecond));
  CHECK_FALSE(getUnitFactor("GB/s", Dimension::Bytes));
  CHECK_FALSE(getUnitFactor("ks", Dimension::Seconds));
  CHECK_FALSE(getUnitFactor("", Dimension::Number));
  CHECK_FALSE(getUnitFactor("gb/s", Dimension::BytesPerSecond));
}
