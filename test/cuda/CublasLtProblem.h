//===- CublasLtProblem.h - a product of matrices, checked -------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_CUBLASLTPROBLEM_H
#define WEFT_TEST_CUDA_CUBLASLTPROBLEM_H

#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop

#include <cstdint>

namespace weft::test {

/// What the handles of cublasLt.h point to.
struct MatrixLayout {
  uint32_t type = 0;
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows = 0, cols = 0;
  int64_t ld = 0;
  int32_t batches = 1;
  int64_t batchStride = 0; ///< elements
};

struct MatmulDescription {
  int32_t computeType = 0, scaleType = 0, pointerMode = CUBLASLT_POINTER_MODE_HOST;
  int32_t transA = CUBLAS_OP_N, transB = CUBLAS_OP_N, transC = CUBLAS_OP_N;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = nullptr;
  int32_t biasType = -1; ///< that of D
  int64_t biasStride = 0;
  int32_t multiprocessors = 0;
};

struct MatmulPreference {
  uint32_t searchMode = 0;
  uint64_t workspaceBytes = 0;
  uint32_t reductions = ~0u;
  uint32_t alignA = 256, alignB = 256, alignC = 256, alignD = 256; ///< bytes
};

struct Problem {
  MatmulDescription how;
  MatrixLayout a, b, c, d;

  uint64_t getRows() const { return d.rows; }
  uint64_t getCols() const { return d.cols; }
  /// Of the sums.
  uint64_t getDepth() const { return how.transA == CUBLAS_OP_N ? a.cols : a.rows; }
};

/// Bytes of an element; 0: of a type that there is none of here.
uint64_t getElementBytes(uint32_t type);

/// By the documented rules: CUBLAS_STATUS_INVALID_VALUE for what contradicts itself,
/// CUBLAS_STATUS_NOT_SUPPORTED for types that do not go together.
cublasStatus_t checkProblem(const Problem &problem);

/// The operands of a call, which are addresses of the device.
struct Operands {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void *d = nullptr;
  const void *alpha = nullptr, *beta = nullptr; ///< of the scale type
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0; ///< that are used
};

/// d = epilogue(alpha * op(a) * op(b) + beta * c). Sums are in double, whatever the compute type.
void computeProduct(const Problem &problem, const Operands &operands);

/// Of a scalar of this type.
double readScalar(const void *at, uint32_t type);

} // namespace weft::test

#endif // WEFT_TEST_CUDA_CUBLASLTPROBLEM_H
