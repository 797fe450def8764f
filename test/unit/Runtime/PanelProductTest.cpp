//===- PanelProductTest.cpp - products by panels against plain sums -------===//

#include "runtime/Cpu/PanelProduct.h"

#include "test/unit/Runtime/PlainProduct.h"

#include <catch2/catch.hpp>

using namespace weft::runtime;

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

TEST_CASE("products by panels that are made of rows as they lie, a block of depth at a time") {
  if (!hasPanelProducts())
    return;
  for (int64_t rows : {1, 64, 257})
    for (int64_t columns : {16, 40, 49})
      for (int64_t depth : {1, 384, 797})
        for (bool isByColumns : {false, true})
          for (bool accumulate : {false, true}) {
            int64_t leftPitch = (isByColumns ? rows : depth) + 3, pitch = columns + 5;
            std::vector<float> a = makeValues((isByColumns ? depth : rows) * leftPitch, 7),
                               b = makeValues(depth * pitch, 11), c(rows * pitch, 1.0f),
                               expected = c;
            Matrix left = makeMatrix(a, rows, depth, isByColumns ? 1 : leftPitch,
                                     isByColumns ? leftPitch : 1);
            Matrix right = makeMatrix(b, depth, columns, pitch, 1);
            multiplyByPanels(left, right, makeMatrix(c, rows, columns, pitch, 1), accumulate);
            multiplyPlainly(left, right, makeMatrix(expected, rows, columns, pitch, 1), accumulate);
            CHECK(c == expected);
          }
}

TEST_CASE("panels are made where rows lie in a few sets of a cache, and vectors are of AVX2") {
  std::vector<float> none(1);
  auto isOf = [&](int64_t rows, int64_t pitch, bool areWide, bool isByColumns = false) {
    Matrix a =
        isByColumns ? makeMatrix(none, rows, 768, 1, rows) : makeMatrix(none, rows, 768, 768, 1);
    return isOfPanels(a, makeMatrix(none, 768, 256, pitch, 1), makeMatrix(none, rows, 256, 256, 1),
                      areWide);
  };
  CHECK(isOf(128, 512, false) == hasPanelProducts());
  CHECK(isOf(32, 2048, false) == hasPanelProducts());
  CHECK(isOf(32, 2048, false, /*isByColumns=*/true) == hasPanelProducts());
  CHECK(isOf(128, 768, false) == hasPanelProducts());
  CHECK_FALSE(isOf(32, 768, false));
  CHECK_FALSE(isOf(128, 768, false, /*isByColumns=*/true));
  CHECK_FALSE(isOf(128, 704, false));
  CHECK_FALSE(isOf(128, 512, true));
}
