//===- GemmDouble.cpp - one matrix product of f64 -------------------------===//

#include "runtime/Cpu/MatrixLayout.h"

#include <blis.h>
#include <vector>

namespace weft::runtime {

namespace {

/// A row-major matrix in `memory`.
Matrix allocate(int64_t rows, int64_t columns, std::vector<double> &memory) {
  memory.resize(rows * columns);
  return {reinterpret_cast<std::byte *>(memory.data()), rows, columns, columns, 1, program::F64};
}

void copy(const Matrix &from, const Matrix &to) {
  auto *source = reinterpret_cast<const double *>(from.data);
  auto *target = reinterpret_cast<double *>(to.data);
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t j = 0; j < from.columns; ++j)
      target[i * to.rowStride + j * to.columnStride] =
          source[i * from.rowStride + j * from.columnStride];
}

/// The same matrix with a unit stride: itself where it is, else a copy in `memory`.
Matrix pack(const Matrix &m, std::vector<double> &memory) {
  if (getLayout(m).fits)
    return m;
  Matrix packed = allocate(m.rows, m.columns, memory);
  copy(m, packed);
  return packed;
}

struct Strides {
  inc_t row, column;
};

Strides getStrides(const Matrix &m) {
  Layout layout = getLayout(m);
  return layout.transpose == 'N' ? Strides{layout.leading, 1} : Strides{1, layout.leading};
}

/// Matrices with unit strides.
void callLibrary(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  Strides sa = getStrides(a), sb = getStrides(b), sc = getStrides(c);
  double one = 1, kept = accumulate ? 1 : 0;
  bli_dgemm(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, c.rows, c.columns, a.columns, &one,
            reinterpret_cast<double *>(a.data), sa.row, sa.column,
            reinterpret_cast<double *>(b.data), sb.row, sb.column, &kept,
            reinterpret_cast<double *>(c.data), sc.row, sc.column);
}

} // namespace

void multiplyDouble(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  thread_local std::vector<double> packedA, packedB, packedC;
  Matrix left = pack(a, packedA), right = pack(b, packedB);
  if (getLayout(c).fits)
    return callLibrary(left, right, c, accumulate);
  Matrix result = allocate(c.rows, c.columns, packedC);
  if (accumulate)
    copy(c, result);
  callLibrary(left, right, result, accumulate);
  copy(result, c);
}

} // namespace weft::runtime
