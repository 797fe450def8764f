//===- Gemm.cpp - one matrix product --------------------------------------===//

#include "runtime/Cpu/Gemm.h"

#include "runtime/Cpu/ColumnProduct.h"
#include "runtime/Cpu/FewRows.h"
#include "runtime/Cpu/MatrixLayout.h"
#include "runtime/Cpu/PanelProduct.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstring>
#include <oneapi/dnnl/dnnl.h>
#include <vector>

namespace weft::runtime {

Layout getLayout(const Matrix &m) {
  return getLayout(m.rows, m.columns, m.rowStride, m.columnStride);
}

namespace {

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
Matrix pack(const Matrix &m, std::vector<float> &packed) {
  if (m.dtype == program::F32 && getLayout(m).fits)
    return m;
  if (m.rowStride == 1 && m.columnStride != 1)
    return pack(m.transposed(), packed).transposed();
  packed.resize(m.rows * m.columns);
  widenRows(m, packed.data(), 0, m.rows);
  return {reinterpret_cast<std::byte *>(packed.data()), m.rows, m.columns, m.columns, 1};
}

/// Writes a matrix of f32, row-major, into one of any of the types.
void unpack(const float *packed, const Matrix &m) {
  for (int64_t i = 0; i < m.rows; ++i) {
    const float *row = packed + i * m.columns;
    if (m.columnStride == 1) {
      narrow(m.dtype, row, m.data + i * m.rowStride * getElementSize(m.dtype), m.columns);
      continue;
    }
    for (int64_t j = 0; j < m.columns; ++j)
      writeFloat(m.dtype, m.data, i * m.rowStride + j * m.columnStride, row[j]);
  }
}

/// Matrices of f32 whose layouts oneDNN takes.
void callLibrary(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  Layout la = getLayout(a), lb = getLayout(b), lc = getLayout(c);
  dnnl_status_t status = dnnl_sgemm(
      la.transpose, lb.transpose, c.rows, c.columns, a.columns, 1.0f,
      reinterpret_cast<const float *>(a.data), la.leading, reinterpret_cast<const float *>(b.data),
      lb.leading, accumulate ? 1.0f : 0.0f, reinterpret_cast<float *>(c.data), lc.leading);
  if (status != dnnl_success)
    throwFailure("oneDNN refuses a product of {}x{} and {}x{} (status {})", a.rows, a.columns,
                 b.rows, b.columns, int(status));
}

void multiplyFloat(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  if (getLayout(c).fits && getLayout(c).transpose == 'T')
    return multiplyFloat(b.transposed(), a.transposed(), c.transposed(), accumulate);
  if (isOfBfloats(a, b, c) && !isOfFewRows(a, b, c))
    return multiplyBfloats(a, b, c, accumulate);
  thread_local std::vector<float> packedA, packedB, packedC;
  Matrix left = pack(a, packedA), result = c;
  bool isPacked = c.dtype != program::F32 || !getLayout(c).fits;
  if (isPacked) {
    packedC.resize(c.rows * c.columns);
    result = {reinterpret_cast<std::byte *>(packedC.data()), c.rows, c.columns, c.columns, 1};
    if (accumulate)
      widenRows(c, packedC.data(), 0, c.rows);
  }
  if (isOfFewRows(left, b, result))
    multiplyFewRows(left, b, result, accumulate);
  else if (isOfColumns(left, b, result))
    multiplyByColumns(left, b, result, accumulate);
  else if (Matrix right = pack(b, packedB); isOfPanels(left, right, result))
    multiplyByPanels(left, right, result, accumulate);
  else
    callLibrary(left, right, result, accumulate);
  if (isPacked)
    unpack(packedC.data(), c);
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

void widenRows(const Matrix &from, float *to, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float *row = to + i * from.columns;
    int64_t start = i * from.rowStride;
    if (from.columnStride == 1)
      widen(from.dtype, from.data + start * getElementSize(from.dtype), row, from.columns);
    else
      for (int64_t j = 0; j < from.columns; ++j)
        row[j] = readFloat(from.dtype, from.data, start + j * from.columnStride);
  }
}

void multiply(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  if (c.rows == 0 || c.columns == 0)
    return;
  switch (c.dtype) {
  case program::F16:
  case program::BF16:
  case program::F32:
    if (a.columns == 0)
      break; // an empty sum: oneDNN leaves c as it is
    return multiplyFloat(a, b, c, accumulate);
  case program::F64:
    if (a.columns == 0)
      break;
    return multiplyDouble(a, b, c, accumulate);
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
    throwBadInput("cannot multiply matrices of {}", getName(c.dtype));
  }
  int64_t size = getElementSize(c.dtype);
  if (!accumulate)
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j)
        std::memset(c.data + (i * c.rowStride + j * c.columnStride) * size, 0, size);
}

} // namespace weft::runtime
