//===- ColumnProductTest.cpp - products by columns against plain sums -----===//

#include "runtime/Cpu/ColumnProduct.h"

#include "test/unit/Runtime/PlainProduct.h"

#include <catch2/catch.hpp>

using namespace weft::runtime;

TEST_CASE("products by columns of any extents, of operands that are parts of others") {
  if (!__builtin_cpu_supports("x86-64-v3"))
    return;
  for (bool areWide : {false, true}) {
    if (areWide && !hasWideVectors())
      continue;
    for (int64_t rows : {0, 1, 15, 16, 17, 48, 49, 131, 256})
      for (int64_t columns : {1, 8, 47, 64})
        for (int64_t depth : {1, 64, 77, 900})
          for (bool isByColumns : {false, true})
            for (bool accumulate : {false, true}) {
              int64_t leftPitch = (isByColumns ? rows : depth) + 3, pitch = columns + 5;
              std::vector<float> a = makeValues((isByColumns ? depth : rows) * leftPitch, 7),
                                 b = makeValues(columns * (depth + 1), 11), c(rows * pitch, 1.0f),
                                 expected = c;
              Matrix left = makeMatrix(a, rows, depth, isByColumns ? 1 : leftPitch,
                                       isByColumns ? leftPitch : 1);
              Matrix right = makeMatrix(b, depth, columns, 1, depth + 1);
              multiplyByColumns(left, right, makeMatrix(c, rows, columns, pitch, 1), accumulate,
                                areWide);
              multiplyPlainly(left, right, makeMatrix(expected, rows, columns, pitch, 1),
                              accumulate);
              CHECK(c == expected);
            }
  }
}

TEST_CASE("sums of a great depth keep their digits") {
  if (!__builtin_cpu_supports("x86-64-v3"))
    return;
  int64_t rows = 16, columns = 8, depth = 49152;
  std::vector<float> a(rows * depth, 1.0f), b(columns * depth, 0.1f), c(rows * columns);
  for (bool areWide : {false, hasWideVectors()}) {
    multiplyByColumns(makeMatrix(a, rows, depth, depth, 1), makeMatrix(b, depth, columns, 1, depth),
                      makeMatrix(c, rows, columns, columns, 1), /*accumulate=*/false, areWide);
    for (float sum : c)
      CHECK(sum == Approx(depth * double(0.1f)).epsilon(1e-5));
  }
}

TEST_CASE("columns are read where they lie while a library's packing is not hidden") {
  bool hasVectors = __builtin_cpu_supports("x86-64-v3");
  std::vector<float> none(1);
  auto isOf = [&](int64_t rows, int64_t depth, int64_t columns, bool isByColumns = true) {
    Matrix b = makeMatrix(none, columns, depth, depth, 1);
    return isOfColumns(makeMatrix(none, rows, depth, depth, 1),
                       isByColumns ? b.transposed() : makeMatrix(none, depth, columns, columns, 1),
                       makeMatrix(none, rows, columns, columns, 1));
  };
  CHECK(isOf(128, 768, 50257) == hasVectors);
  CHECK(isOf(17, 256, 256) == hasVectors);
  CHECK(isOf(288, 1024, 256) == hasVectors);
  CHECK_FALSE(isOf(145, 768, 50257));
  CHECK_FALSE(isOf(289, 1024, 256));
  CHECK_FALSE(isOf(128, 255, 768));
  CHECK_FALSE(isOf(128, 768, 255));
  CHECK_FALSE(isOf(128, 768, 768, /*isByColumns=*/false));
}
