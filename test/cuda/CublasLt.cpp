//===- CublasLt.cpp - a stand-in for libcublasLt --------------------------===//
//
// Checks what the library documents, and computes plainly on the stream. An algorithm is a number,
// the workspace that it needs and the alignment that it was chosen for: a call that gives less of
// either fails here, while the real library may let it pass until another algorithm is chosen.
//
//===----------------------------------------------------------------------===//

#include "test/cuda/CublasLtProblem.h"
#include "test/cuda/StandIn.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

using namespace weft::test;

namespace {

/// What is in the opaque cublasLtMatmulAlgo_t.
struct Algorithm {
  uint32_t mark = expectedMark;
  int32_t computeType = 0;
  uint32_t factorType = 0, resultType = 0;
  uint64_t workspaceBytes = 0;
  uint32_t alignA = 1, alignB = 1, alignC = 1, alignD = 1; ///< bytes

  static constexpr uint32_t expectedMark = 0x77656674;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

constexpr uint64_t neededWorkspace = 1 << 20; // bytes, of the first algorithm that is offered

MatrixLayout *getLayout(cublasLtMatrixLayout_t handle) {
  return reinterpret_cast<MatrixLayout *>(handle);
}
MatmulDescription *getDescription(cublasLtMatmulDesc_t handle) {
  return reinterpret_cast<MatmulDescription *>(handle);
}
MatmulPreference *getPreference(cublasLtMatmulPreference_t handle) {
  return reinterpret_cast<MatmulPreference *>(handle);
}

/// An attribute's place; the size given must be its own.
template <class T> cublasStatus_t assign(T &to, const void *from, size_t bytes) {
  if (!from || bytes != sizeof(T))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, from, sizeof(T));
  return CUBLAS_STATUS_SUCCESS;
}

template <class T> cublasStatus_t destroy(T *object) {
  delete object;
  return CUBLAS_STATUS_SUCCESS;
}

bool isAligned(const void *address, uint64_t bytes) {
  return reinterpret_cast<uint64_t>(address) % bytes == 0;
}

int32_t defaultScale(int32_t compute) {
  bool isDouble = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
  bool isHalf = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
  return isDouble ? CUDA_R_64F : isHalf ? CUDA_R_16F : CUDA_R_32F;
}

Problem getProblem(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                   cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  return {*getDescription(how), *getLayout(a), *getLayout(b), *getLayout(c), *getLayout(d)};
}

} // namespace

struct cublasLtContext {};

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *handle, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  auto *made = new MatmulDescription;
  made->computeType = compute;
  made->scaleType = scale;
  *handle = reinterpret_cast<cublasLtMatmulDesc_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  return destroy(getDescription(handle));
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t bytes) {
  MatmulDescription &to = *getDescription(handle);
  switch (name) {
  case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: {
    cublasStatus_t status = assign(to.computeType, value, bytes);
    to.scaleType = defaultScale(to.computeType);
    return status;
  }
  case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
    return assign(to.scaleType, value, bytes);
  case CUBLASLT_MATMUL_DESC_POINTER_MODE:
    return assign(to.pointerMode, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return assign(to.transA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return assign(to.transB, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSC:
    return assign(to.transC, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return assign(to.epilogue, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return assign(to.bias, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return assign(to.biasType, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
    return assign(to.biasStride, value, bytes);
  case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
    return assign(to.multiprocessors, value, bytes);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *handle, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t ld) {
  if (!getElementBytes(type))
    return CUBLAS_STATUS_INVALID_VALUE;
  auto *made = new MatrixLayout;
  made->type = type;
  made->rows = rows;
  made->cols = cols;
  made->ld = ld;
  *handle = reinterpret_cast<cublasLtMatrixLayout_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  return destroy(getLayout(handle));
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t bytes) {
  MatrixLayout &to = *getLayout(handle);
  switch (name) {
  case CUBLASLT_MATRIX_LAYOUT_TYPE:
    return assign(to.type, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ORDER:
    return assign(to.order, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ROWS:
    return assign(to.rows, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_COLS:
    return assign(to.cols, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_LD:
    return assign(to.ld, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return assign(to.batches, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return assign(to.batchStride, value, bytes);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *handle) {
  *handle = reinterpret_cast<cublasLtMatmulPreference_t>(new MatmulPreference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  return destroy(getPreference(handle));
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void *value, size_t bytes) {
  MatmulPreference &to = *getPreference(handle);
  switch (name) {
  case CUBLASLT_MATMUL_PREF_SEARCH_MODE:
    return assign(to.searchMode, value, bytes);
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return assign(to.workspaceBytes, value, bytes);
  case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
    return assign(to.reductions, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    return assign(to.alignA, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    return assign(to.alignB, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    return assign(to.alignC, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return assign(to.alignD, value, bytes);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Offers an algorithm with a workspace, where the preference allows it, and one without.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int *given) {
  if (!handle || !how || !a || !b || !c || !d || !preference || wanted < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  *given = 0;
  Problem problem = getProblem(how, a, b, c, d);
  if (cublasStatus_t status = checkProblem(problem))
    return status;
  const MatmulPreference &asked = *getPreference(preference);
  for (uint64_t workspace : {neededWorkspace, uint64_t(0)}) {
    if (workspace > asked.workspaceBytes || *given == wanted)
      continue;
    cublasLtMatmulHeuristicResult_t &result = results[(*given)++];
    std::memset(&result, 0, sizeof result);
    new (&result.algo) Algorithm{Algorithm::expectedMark,
                                 problem.how.computeType,
                                 problem.a.type,
                                 problem.d.type,
                                 workspace,
                                 asked.alignA,
                                 asked.alignB,
                                 asked.alignC,
                                 asked.alignD};
    result.workspaceSize = workspace;
    result.state = CUBLAS_STATUS_SUCCESS;
    result.wavesCount = 1;
  }
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

/// What is enqueued; scalars of the host are kept by value.
struct Product {
  Problem problem;
  Operands operands;
  uint64_t alpha = 0, beta = 0;
};

cublasStatus_t checkAlgorithm(const Algorithm &algorithm, const Problem &problem,
                              const Operands &operands) {
  if (algorithm.mark != Algorithm::expectedMark)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm.computeType != problem.how.computeType || algorithm.factorType != problem.a.type ||
      algorithm.resultType != problem.d.type)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  bool aligned = isAligned(operands.a, algorithm.alignA) &&
                 isAligned(operands.b, algorithm.alignB) &&
                 isAligned(operands.c, algorithm.alignC) && isAligned(operands.d, algorithm.alignD);
  return aligned ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t checkPointers(const Problem &problem, const Operands &operands) {
  uint64_t factor = getElementBytes(problem.a.type), result = getElementBytes(problem.d.type);
  bool given = operands.a && operands.b && operands.d && operands.alpha && operands.beta;
  bool aligned = isAligned(operands.a, factor) && isAligned(operands.b, factor) &&
                 isAligned(operands.c, result) && isAligned(operands.d, result);
  bool inPlace = operands.c == operands.d;
  const MatrixLayout &c = problem.c, &d = problem.d;
  if (inPlace && (c.ld != d.ld || c.order != d.order || c.batchStride != d.batchStride))
    return CUBLAS_STATUS_INVALID_VALUE;
  return given && aligned ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/// Scalars of the host are read now.
cublasStatus_t keepScalars(Product &product) {
  const MatmulDescription &how = product.problem.how;
  if (how.pointerMode == CUBLASLT_POINTER_MODE_DEVICE)
    return CUBLAS_STATUS_SUCCESS;
  if (how.pointerMode != CUBLASLT_POINTER_MODE_HOST)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  uint64_t bytes = getElementBytes(how.scaleType);
  std::memcpy(&product.alpha, product.operands.alpha, bytes);
  std::memcpy(&product.beta, product.operands.beta, bytes);
  bool readsC = readScalar(&product.beta, how.scaleType) != 0;
  product.operands.alpha = &product.alpha;
  product.operands.beta = &product.beta;
  return readsC && !product.operands.c ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

void run(void *data) {
  std::unique_ptr<Product> product(static_cast<Product *>(data));
  computeProduct(product->problem, product->operands);
}

} // namespace

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t aLayout, const void *b,
                              cublasLtMatrixLayout_t bLayout, const void *beta, const void *c,
                              cublasLtMatrixLayout_t cLayout, void *d,
                              cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t *algorithm,
                              void *workspace, size_t workspaceBytes, cudaStream_t stream) {
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!how || !aLayout || !bLayout || !cLayout || !dLayout || !alpha || !beta)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto product = std::make_unique<Product>();
  product->problem = getProblem(how, aLayout, bLayout, cLayout, dLayout);
  product->operands = {a, b, c, d, alpha, beta, workspace, 0};
  if (cublasStatus_t status = checkProblem(product->problem))
    return status;
  if (cublasStatus_t status = checkPointers(product->problem, product->operands))
    return status;
  if (algorithm) {
    const auto &chosen = *reinterpret_cast<const Algorithm *>(algorithm);
    if (cublasStatus_t status = checkAlgorithm(chosen, product->problem, product->operands))
      return status;
    if (chosen.workspaceBytes > workspaceBytes ||
        (chosen.workspaceBytes && !isAligned(workspace, 16)))
      return CUBLAS_STATUS_INVALID_VALUE;
    product->operands.workspaceBytes = chosen.workspaceBytes;
  }
  if (cublasStatus_t status = keepScalars(*product))
    return status;
  standInEnqueue(stream, run, product.release());
  return CUBLAS_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Statuses
//===----------------------------------------------------------------------===//

const char *cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_SUCCESS:
    return "CUBLAS_STATUS_SUCCESS";
  case CUBLAS_STATUS_NOT_INITIALIZED:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_ALLOC_FAILED:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_ARCH_MISMATCH:
    return "CUBLAS_STATUS_ARCH_MISMATCH";
  case CUBLAS_STATUS_EXECUTION_FAILED:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case CUBLAS_STATUS_NOT_SUPPORTED:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }
