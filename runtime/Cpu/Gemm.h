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

  Matrix transposed() const { return {data, columns, rows, columnStride, rowStride}; }
};

/// c = a·b, or c += a·b, on the calling thread, through oneDNN for floats of at most 32 bits: f16
/// and bf16 are widened, and operands without a unit stride are packed, into memory of the thread.
/// Other types are multiplied plainly, integers modulo 2^bits.
void multiply(DType dtype, const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_GEMM_H
