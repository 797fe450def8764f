#include "test/cuda/CublasLtProblem.h"

#include "test/cuda/PtxNumber.h"
#include "test/cuda/StandIn.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace weft::test {

namespace {

constexpr int rubbish = 0xa5;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Types that go together: those of A and B are the same, so are those of C and D.
struct Combination {
  int compute;
  cudaDataType_t scale, factors, result;
};

constexpr Combination combinations[] = {
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_16F_PEDANTIC, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
    {CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUBLAS_COMPUTE_64F_PEDANTIC, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
};

bool goTogether(const Problem &p) {
  return p.a.type == p.b.type && p.c.type == p.d.type &&
         std::any_of(std::begin(combinations), std::end(combinations),
                     [&](const Combination &each) {
                       return each.compute == p.how.computeType && each.scale == p.how.scaleType &&
                              static_cast<uint32_t>(each.factors) == p.a.type &&
                              static_cast<uint32_t>(each.result) == p.d.type;
                     });
}

bool isWellFormed(const MatrixLayout &layout) {
  bool columns = layout.order == CUBLASLT_ORDER_COL;
  if (!layout.rows || !layout.cols || layout.batches < 1 ||
      (!columns && layout.order != CUBLASLT_ORDER_ROW))
    return false;
  return layout.ld >= static_cast<int64_t>(columns ? layout.rows : layout.cols);
}

uint64_t rowsOf(const MatrixLayout &layout, int transposed) {
  return transposed == CUBLAS_OP_N ? layout.rows : layout.cols;
}
uint64_t colsOf(const MatrixLayout &layout, int transposed) {
  return transposed == CUBLAS_OP_N ? layout.cols : layout.rows;
}

constexpr uint32_t knownEpilogues = CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU |
                                    CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

double readElement(const uint8_t *at, uint64_t index, uint32_t type) {
  switch (type) {
  case CUDA_R_64F:
    return reinterpret_cast<const double *>(at)[index];
  case CUDA_R_32F:
    return reinterpret_cast<const float *>(at)[index];
  case CUDA_R_16F:
    return ptx::widen(reinterpret_cast<const ptx::f16 *>(at)[index]);
  default:
    return ptx::widen(reinterpret_cast<const ptx::bf16 *>(at)[index]);
  }
}

void writeElement(uint8_t *at, uint64_t index, uint32_t type, double value) {
  switch (type) {
  case CUDA_R_64F:
    reinterpret_cast<double *>(at)[index] = value;
    break;
  case CUDA_R_32F:
    reinterpret_cast<float *>(at)[index] = static_cast<float>(value);
    break;
  case CUDA_R_16F:
    reinterpret_cast<ptx::f16 *>(at)[index] = ptx::narrow<ptx::f16>(value, ptx::RN);
    break;
  default:
    reinterpret_cast<ptx::bf16 *>(at)[index] = ptx::narrow<ptx::bf16>(value, ptx::RN);
  }
}

/// What the fast compute types leave of a factor.
double reduce(double value, int compute) {
  constexpr uint32_t tf32Rest = 1 << 13; // the bits of f32 that TF32 has not, and one
  switch (compute) {
  case CUBLAS_COMPUTE_32F_FAST_TF32: {
    auto bits = ptx::bitsOf(static_cast<float>(value));
    return std::isfinite(value) ? ptx::as<float>((bits + tf32Rest / 2) & ~(tf32Rest - 1)) : value;
  }
  case CUBLAS_COMPUTE_32F_FAST_16F:
    return ptx::widen(ptx::narrow<ptx::f16>(value, ptx::RN));
  case CUBLAS_COMPUTE_32F_FAST_16BF:
    return ptx::widen(ptx::narrow<ptx::bf16>(value, ptx::RN));
  default:
    return value;
  }
}

uint64_t getIndex(const MatrixLayout &layout, uint64_t row, uint64_t col, uint64_t batch) {
  uint64_t within =
      layout.order == CUBLASLT_ORDER_COL ? col * layout.ld + row : row * layout.ld + col;
  return within + batch * layout.batchStride;
}

void checkMatrix(const MatrixLayout &layout, const void *at, const char *what) {
  uint64_t last = getIndex(layout, layout.rows - 1, layout.cols - 1, layout.batches - 1);
  standInCheck(at, (last + 1) * getElementBytes(layout.type), what);
}

/// op(matrix) by rows.
std::vector<double> gather(const MatrixLayout &layout, const void *at, int transposed,
                           uint64_t batch, int compute) {
  uint64_t rows = rowsOf(layout, transposed), cols = colsOf(layout, transposed);
  std::vector<double> values(rows * cols);
  bool flips = transposed != CUBLAS_OP_N;
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < cols; ++j) {
      uint64_t index = getIndex(layout, flips ? j : i, flips ? i : j, batch);
      values[i * cols + j] =
          reduce(readElement(static_cast<const uint8_t *>(at), index, layout.type), compute);
    }
  return values;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// By blocks of b that stay in a core's cache.
std::vector<double> multiply(const std::vector<double> &a, const std::vector<double> &b, uint64_t m,
                             uint64_t n, uint64_t k) {
  constexpr uint64_t blockDepth = 32, blockCols = 512;
  std::vector<double> sums(m * n);
  for (uint64_t cols = 0; cols < n; cols += blockCols)
    for (uint64_t depth = 0; depth < k; depth += blockDepth)
      for (uint64_t i = 0; i < m; ++i)
        for (uint64_t l = depth; l < std::min(k, depth + blockDepth); ++l) {
          double factor = a[i * k + l];
          double *sum = &sums[i * n];
          const double *row = &b[l * n];
          for (uint64_t j = cols, end = std::min(n, cols + blockCols); j < end; ++j)
            sum[j] += factor * row[j];
        }
  return sums;
}

double applyEpilogue(double value, uint32_t epilogue) {
  if (epilogue & CUBLASLT_EPILOGUE_RELU)
    value = value > 0 ? value : 0;
  if (epilogue & CUBLASLT_EPILOGUE_GELU) // by tanh, as the library's
    value = 0.5 * value *
            (1 + std::tanh(0.7978845608028654 * (value + 0.044715 * value * value * value)));
  return value;
}

void checkOperands(const Problem &p, const Operands &operands, bool readsC) {
  checkMatrix(p.a, operands.a, "matrix A of a product");
  checkMatrix(p.b, operands.b, "matrix B of a product");
  if (readsC)
    checkMatrix(p.c, operands.c, "matrix C of a product");
  checkMatrix(p.d, operands.d, "matrix D of a product");
  if (operands.workspaceBytes) {
    standInCheck(operands.workspace, operands.workspaceBytes, "the workspace of a product");
    std::memset(operands.workspace, rubbish, operands.workspaceBytes);
  }
}

uint32_t getBiasType(const Problem &p) {
  return p.how.biasType < 0 ? p.d.type : static_cast<uint32_t>(p.how.biasType);
}

void finishBatch(const Problem &p, const Operands &operands, uint64_t batch,
                 const std::vector<double> &sums, double alpha, double beta) {
  const auto *c = static_cast<const uint8_t *>(operands.c),
             *bias = static_cast<const uint8_t *>(p.how.bias);
  bool adds = p.how.epilogue & CUBLASLT_EPILOGUE_BIAS;
  for (uint64_t i = 0; i < p.getRows(); ++i)
    for (uint64_t j = 0; j < p.getCols(); ++j) {
      double value = alpha * sums[i * p.getCols() + j];
      if (beta != 0)
        value += beta * readElement(c, getIndex(p.c, i, j, batch), p.c.type);
      if (adds)
        value += readElement(bias, i + batch * p.how.biasStride, getBiasType(p));
      writeElement(static_cast<uint8_t *>(operands.d), getIndex(p.d, i, j, batch), p.d.type,
                   applyEpilogue(value, p.how.epilogue));
    }
}

} // namespace

uint64_t getElementBytes(uint32_t type) {
  switch (type) {
  case CUDA_R_64F:
    return 8;
  case CUDA_R_32F:
    return 4;
  case CUDA_R_16F:
  case CUDA_R_16BF:
    return 2;
  default:
    return 0;
  }
}

double readScalar(const void *at, uint32_t type) {
  return readElement(static_cast<const uint8_t *>(at), 0, type);
}

cublasStatus_t checkProblem(const Problem &p) {
  for (const MatrixLayout *layout : {&p.a, &p.b, &p.c, &p.d})
    if (!isWellFormed(*layout))
      return CUBLAS_STATUS_INVALID_VALUE;
  const auto &how = p.how;
  bool fits = rowsOf(p.a, how.transA) == p.d.rows && colsOf(p.b, how.transB) == p.d.cols &&
              colsOf(p.a, how.transA) == rowsOf(p.b, how.transB) && p.c.rows == p.d.rows &&
              p.c.cols == p.d.cols;
  bool sameBatches =
      p.a.batches == p.d.batches && p.b.batches == p.d.batches && p.c.batches == p.d.batches;
  if (!fits || !sameBatches || how.transC != CUBLAS_OP_N)
    return CUBLAS_STATUS_INVALID_VALUE;
  bool hasBias = how.epilogue & CUBLASLT_EPILOGUE_BIAS;
  if (how.epilogue & ~knownEpilogues || (hasBias && p.d.order != CUBLASLT_ORDER_COL))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (hasBias && getBiasType(p) != p.d.type &&
      !(p.d.type == CUDA_R_32F && getBiasType(p) == p.a.type))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return goTogether(p) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

void computeProduct(const Problem &p, const Operands &operands) {
  double alpha = readScalar(operands.alpha, p.how.scaleType),
         beta = readScalar(operands.beta, p.how.scaleType);
  checkOperands(p, operands, beta != 0);
  if (p.how.epilogue & CUBLASLT_EPILOGUE_BIAS)
    standInCheck(p.how.bias, p.d.rows * getElementBytes(getBiasType(p)), "the bias of a product");
  for (int32_t batch = 0; batch < p.d.batches; ++batch) {
    auto a = gather(p.a, operands.a, p.how.transA, batch, p.how.computeType);
    auto b = gather(p.b, operands.b, p.how.transB, batch, p.how.computeType);
    finishBatch(p, operands, batch, multiply(a, b, p.getRows(), p.getCols(), p.getDepth()), alpha,
                beta);
  }
}

} // namespace weft::test
