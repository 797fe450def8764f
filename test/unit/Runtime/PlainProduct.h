//===- PlainProduct.h - matrices, and their product by plain sums -*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_RUNTIME_PLAINPRODUCT_H
#define WEFT_TEST_UNIT_RUNTIME_PLAINPRODUCT_H

#include "runtime/Cpu/Gemm.h"

#include <vector>

namespace weft::runtime {

/// Small integers: their sums are exact.
inline std::vector<float> makeValues(int64_t count, int64_t modulus) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i % modulus - modulus / 2);
  return values;
}

inline Matrix makeMatrix(std::vector<float> &values, int64_t rows, int64_t columns,
                         int64_t rowStride, int64_t columnStride) {
  return {reinterpret_cast<std::byte *>(values.data()), rows, columns, rowStride, columnStride};
}

/// c = a·b, or c += a·b, element by element.
inline void multiplyPlainly(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  auto at = [](const Matrix &m, int64_t row, int64_t column) -> float & {
    return reinterpret_cast<float *>(m.data)[row * m.rowStride + column * m.columnStride];
  };
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j) {
      float sum = accumulate ? at(c, i, j) : 0.0f;
      for (int64_t k = 0; k < a.columns; ++k)
        sum += at(a, i, k) * at(b, k, j);
      at(c, i, j) = sum;
    }
}

} // namespace weft::runtime

#endif // WEFT_TEST_UNIT_RUNTIME_PLAINPRODUCT_H
