//===- Gemm.h - one matrix product ------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_GEMM_H
#define WEFT_RUNTIME_CPU_GEMM_H

#include "runtime/Support/DType.h"

#include <cstddef>

namespace weft::runtime {

/// A matrix in memory; strides count elements.
struct Matrix {
  std::byte *data;
  int64_t rows;
  int64_t columns;
  int64_t rowStride;
  int64_t columnStride;
  DType dtype = program::F32;

  Matrix transposed() const { return {data, columns, rows, columnStride, rowStride, dtype}; }
};

/// c = a·b, or c += a·b, on the calling thread, through oneDNN for floats of at most 32 bits and
/// BLIS for f64; products of a few rows (FewRows.h), of some by a matrix stored by columns
/// (ColumnProduct.h) and some by AVX2 (PanelProduct.h) aside: f16
/// and bf16 are widened, where the processor has no products of them, and operands without a unit
/// stride are packed, into memory of the thread. Integers are multiplied plainly, modulo 2^bits.
/// All are of c's type; factors of f16 and bf16 may have been widened to f32 before.
void multiply(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate);

/// Writes rows [begin, end) of a matrix of f16 or bf16 into one of f32, which is row-major.
void widenRows(const Matrix &from, float *to, int64_t begin, int64_t end);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_GEMM_H
