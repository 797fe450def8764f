//===- Gemm.cpp - one matrix product --------------------------------------===//

#include "runtime/Cpu/Gemm.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstring>
#include <oneapi/dnnl/dnnl.h>
#include <vector>

namespace weft::runtime {

namespace {

/// How oneDNN names a matrix: rows `leading` elements apart, or, transposed, columns.
struct Layout {
  bool fits = false;
  char transpose = 'N';
  int64_t leading = 1;
};

Layout getLayout(const Matrix &m) {
  bool rowMajor =
      (m.columnStride == 1 || m.columns == 1) && (m.rowStride >= m.columns || m.rows == 1);
  if (rowMajor)
    return {true, 'N', m.rows == 1 ? m.columns : m.rowStride};
  bool columnMajor =
      (m.rowStride == 1 || m.rows == 1) && (m.columnStride >= m.rows || m.columns == 1);
  if (columnMajor)
    return {true, 'T', m.columns == 1 ? m.rows : m.columnStride};
  return {};
}

float readFloat(DType dtype, const std::byte *data, int64_t index) {
  if (dtype == program::F32) {
    float value;
    std::memcpy(&value, data + index * 4, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, data + index * 2, 2);
  return dtype == program::F16 ? halfToFloat(bits) : bfloatToFloat(bits);
}

void writeFloat(DType dtype, std::byte *data, int64_t index, float value) {
  if (dtype == program::F32) {
    std::memcpy(data + index * 4, &value, 4);
    return;
  }
  uint16_t bits = dtype == program::F16 ? floatToHalf(value) : floatToBfloat(value);
  std::memcpy(data + index * 2, &bits, 2);
}

/// The same matrix in f32 with a unit stride: itself where it is, else a copy in `packed`.
Matrix pack(DType dtype, const Matrix &m, std::vector<float> &packed) {
  if (dtype == program::F32 && getLayout(m).fits)
    return m;
  if (m.rowStride == 1 && m.columnStride != 1)
    return pack(dtype, m.transposed(), packed).transposed();
  packed.resize(m.rows * m.columns);
  for (int64_t i = 0; i < m.rows; ++i) {
    float *row = packed.data() + i * m.columns;
    if (m.columnStride == 1) {
      widen(dtype, m.data + i * m.rowStride * getElementSize(dtype), row, m.columns);
      continue;
    }
    for (int64_t j = 0; j < m.columns; ++j)
      row[j] = readFloat(dtype, m.data, i * m.rowStride + j * m.columnStride);
  }
  return {reinterpret_cast<std::byte *>(packed.data()), m.rows, m.columns, m.columns, 1};
}

void multiplyFloat(DType dtype, const Matrix &a, const Matrix &b, const Matrix &c,
                   bool accumulate) {
  if (getLayout(c).fits && getLayout(c).transpose == 'T')
    return multiplyFloat(dtype, b.transposed(), a.transposed(), c.transposed(), accumulate);
  thread_local std::vector<float> packedA, packedB, packedC;
  Matrix left = pack(dtype, a, packedA), right = pack(dtype, b, packedB);
  bool direct = dtype == program::F32 && getLayout(c).fits;
  Matrix result = c;
  if (!direct && accumulate)
    result = pack(dtype, c, packedC);
  else if (!direct) {
    packedC.resize(c.rows * c.columns);
    result = {reinterpret_cast<std::byte *>(packedC.data()), c.rows, c.columns, c.columns, 1};
  }
  Layout la = getLayout(left), lb = getLayout(right), lc = getLayout(result);
  dnnl_status_t status =
      dnnl_sgemm(la.transpose, lb.transpose, c.rows, c.columns, a.columns, 1.0f,
                 reinterpret_cast<const float *>(left.data), std::max<int64_t>(la.leading, 1),
                 reinterpret_cast<const float *>(right.data), std::max<int64_t>(lb.leading, 1),
                 accumulate ? 1.0f : 0.0f, reinterpret_cast<float *>(result.data),
                 std::max<int64_t>(lc.leading, 1));
  if (status != dnnl_success)
    throwFailure("oneDNN refuses a product of {}x{} and {}x{} (status {})", a.rows, a.columns,
                 b.rows, b.columns, int(status));
  if (direct)
    return;
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j)
      writeFloat(dtype, c.data, i * c.rowStride + j * c.columnStride, packedC[i * c.columns + j]);
}

/// Row by row with the inner loop along a row of b; sums in T, integers in uint64_t.
template <typename T, typename Sum>
void multiplyPlainly(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  auto *left = reinterpret_cast<const T *>(a.data);
  auto *right = reinterpret_cast<const T *>(b.data);
  auto *result = reinterpret_cast<T *>(c.data);
  std::vector<Sum> row(c.columns);
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.columns; ++j)
      row[j] = accumulate ? Sum(result[i * c.rowStride + j * c.columnStride]) : Sum(0);
    for (int64_t k = 0; k < a.columns; ++k) {
      Sum factor = Sum(left[i * a.rowStride + k * a.columnStride]);
      const T *from = right + k * b.rowStride;
      for (int64_t j = 0; j < c.columns; ++j)
        row[j] += factor * Sum(from[j * b.columnStride]);
    }
    for (int64_t j = 0; j < c.columns; ++j)
      result[i * c.rowStride + j * c.columnStride] = static_cast<T>(row[j]);
  }
}

} // namespace

void multiply(DType dtype, const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  if (c.rows == 0 || c.columns == 0)
    return;
  switch (dtype) {
  case program::F16:
  case program::BF16:
  case program::F32:
    if (a.columns == 0)
      break; // an empty sum: oneDNN leaves c as it is
    return multiplyFloat(dtype, a, b, c, accumulate);
  case program::F64:
    return multiplyPlainly<double, double>(a, b, c, accumulate);
  case program::I8:
    return multiplyPlainly<int8_t, uint64_t>(a, b, c, accumulate);
  case program::I16:
    return multiplyPlainly<int16_t, uint64_t>(a, b, c, accumulate);
  case program::I32:
    return multiplyPlainly<int32_t, uint64_t>(a, b, c, accumulate);
  case program::I64:
    return multiplyPlainly<int64_t, uint64_t>(a, b, c, accumulate);
  case program::U8:
    return multiplyPlainly<uint8_t, uint64_t>(a, b, c, accumulate);
  case program::U16:
    return multiplyPlainly<uint16_t, uint64_t>(a, b, c, accumulate);
  case program::U32:
    return multiplyPlainly<uint32_t, uint64_t>(a, b, c, accumulate);
  case program::U64:
    return multiplyPlainly<uint64_t, uint64_t>(a, b, c, accumulate);
  default:
    throwBadInput("cannot multiply matrices of {}", getName(dtype));
  }
  if (!accumulate)
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j)
        writeFloat(dtype, c.data, i * c.rowStride + j * c.columnStride, 0.0f);
}

} // namespace weft::runtime
