//===- PanelProductTest.cpp - products by panels against plain sums -------===//

#include "runtime/Cpu/PanelProduct.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace weft::runtime;

namespace {

/// Small integers: their sums are exact.
std::vector<float> makeValues(int64_t count, int64_t modulus) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i % modulus - modulus / 2);
  return values;
}

} // namespace

TEST_CASE("products by panels of any number of rows, of operands that are parts of others") {
  if (!hasPanelProducts())
    return;
  for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 64, 101})
    for (int64_t depth : {1, 7, 384, 800})
      for (bool accumulate : {false, true}) {
        int64_t columns = 48, leftPitch = depth + 3, pitch = columns + 5;
        std::vector<float> a = makeValues(rows * leftPitch, 7), b = makeValues(depth * columns, 11),
                           c(rows * pitch, 1.0f), expected = c;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            float sum = accumulate ? 1.0f : 0.0f;
            int64_t panel = j / panelColumns * panelColumns;
            for (int64_t k = 0; k < depth; ++k)
              sum += a[i * leftPitch + k] * b[panel * depth + k * panelColumns + j - panel];
            expected[i * pitch + j] = sum;
          }
        multiplyPanels({a.data(), leftPitch}, b.data(), {c.data(), pitch}, {rows, columns, depth},
                       accumulate);
        CHECK(c == expected);
      }
}
