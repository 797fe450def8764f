#include "runtime/Support/DType.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace weft;
using namespace weft::runtime;

namespace {

/// Two numbers of 16 bits that mean the same: NaN has many forms.
bool isSame(DType dtype, uint16_t a, uint16_t b) {
  uint16_t infinity = dtype == program::F16 ? 0x7c00 : 0x7f80;
  bool isNan = (a & 0x7fff) > infinity;
  return isNan ? (b & 0x7fff) > infinity : a == b;
}

uint16_t narrowOne(DType dtype, float value) {
  return dtype == program::F16 ? floatToHalf(value) : floatToBfloat(value);
}

/// Counts floats that an array rounds to something else than one by one.
int countDifferences(DType dtype, const std::vector<float> &values) {
  std::vector<uint16_t> narrowed(values.size());
  narrow(dtype, values.data(), narrowed.data(), static_cast<int64_t>(values.size()));
  int count = 0;
  for (size_t i = 0; i < values.size(); ++i)
    count += !isSame(dtype, narrowOne(dtype, values[i]), narrowed[i]);
  return count;
}

} // namespace

TEST_CASE("all numbers of 16 bits are widened and narrowed back") {
  for (DType dtype : {program::F16, program::BF16}) {
    std::vector<uint16_t> all(0x10000), back(all.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<float> wide(all.size());
    widen(dtype, all.data(), wide.data(), static_cast<int64_t>(all.size()));
    narrow(dtype, wide.data(), back.data(), static_cast<int64_t>(all.size()));
    int wrong = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      float one = dtype == program::F16 ? halfToFloat(all[i]) : bfloatToFloat(all[i]);
      bool equal = std::isnan(one) ? std::isnan(wide[i]) : one == wide[i];
      wrong += !equal || !isSame(dtype, all[i], back[i]);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("floats are rounded to the nearest, halfway to even, in arrays as alone") {
  std::vector<float> values{0.0f,       -0.0f,    INFINITY, -INFINITY, NAN,       65504.0f,
                            65519.996f, 65520.0f, 0x1p-24f, 0x1p-25f,  0x1.8p-25f};
  // Numbers of 16 bits, what lies in the middle of two, and what lies beside it.
  for (uint32_t bits = 0; bits < 0x7c00; bits += 3) {
    float middle = (halfToFloat(bits) + halfToFloat(bits + 1)) / 2;
    for (float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e6f)})
      values.insert(values.end(), {value, -value});
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  CHECK(countDifferences(program::F16, values) == 0);
  CHECK(countDifferences(program::BF16, values) == 0);
  CHECK(floatToHalf(1 + 0x1p-11f) == 0x3c00);
  CHECK(floatToHalf(1 + 0x1.8p-10f) == 0x3c02);
  CHECK(floatToBfloat(1 + 0x1p-8f) == 0x3f80);
  CHECK(floatToBfloat(1 + 0x1.8p-7f) == 0x3f82);
}
