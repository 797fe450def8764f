//===- BlasProduct.cpp - a product by cuBLASLt ----------------------------===//
//
// The library's matrices are column-major: a row-major matrix is, to it, its transpose. So that c
// is what it writes, it computes cᵀ = bᵀ·aᵀ, b being its first operand. A row-major operand is what
// it wants, and one that is transposed here is, to it, to be transposed.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/BlasProduct.h"

#include "runtime/Support/Error.h"

namespace weft::runtime {

namespace {

cudaDataType_t getBlasType(DType dtype) {
  switch (dtype) {
  case program::F16:
    return CUDA_R_16F;
  case program::BF16:
    return CUDA_R_16BF;
  case program::F64:
    return CUDA_R_64F;
  default:
    return CUDA_R_32F;
  }
}

template <typename T, typename Set, typename Handle, typename Attribute>
void set(Set *setter, Handle handle, Attribute attribute, T value) {
  check(setter(handle, attribute, &value, sizeof(value)), "cuBLASLt refuses an attribute");
}

/// A factor of a product, at the type that the library takes it in.
struct Scale {
  float single;
  double twice;

  explicit Scale(double value) : single(static_cast<float>(value)), twice(value) {}
  const void *get(DType dtype) const {
    return dtype == program::F64 ? static_cast<const void *>(&twice) : &single;
  }
};

} // namespace

bool isOfBlas(DType dtype) {
  return dtype == program::F16 || dtype == program::BF16 || dtype == program::F32 ||
         dtype == program::F64;
}

BlasProduct::Operand BlasProduct::describe(const BlasMatrix &matrix) const {
  bool isTransposed = matrix.layout.transpose == 'T';
  auto rows = static_cast<uint64_t>(isTransposed ? matrix.rows : matrix.columns);
  auto columns = static_cast<uint64_t>(isTransposed ? matrix.columns : matrix.rows);
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, getBlasType(dtype), rows, columns, matrix.layout.leading),
        "cublasLtMatrixLayoutCreate");
  Operand operand(made);
  if (count > 1) {
    set(cublasLtMatrixLayoutSetAttribute, made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
        static_cast<int32_t>(count));
    set(cublasLtMatrixLayoutSetAttribute, made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
        matrix.batchStride);
  }
  return operand;
}

BlasProduct::BlasProduct(DType dtype, const BlasMatrix &a, const BlasMatrix &b, const BlasMatrix &c,
                         int64_t count, bool accumulate)
    : dtype(dtype), a(a), b(b), c(c), count(count), accumulate(accumulate) {
  bool isDouble = dtype == program::F64;
  cublasLtMatmulDesc_t made = nullptr;
  check(cublasLtMatmulDescCreate(&made, isDouble ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                 isDouble ? CUDA_R_64F : CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  description.reset(made);
  auto getOperation = [](const BlasMatrix &matrix) {
    return static_cast<int32_t>(matrix.layout.transpose == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N);
  };
  set(cublasLtMatmulDescSetAttribute, made, CUBLASLT_MATMUL_DESC_TRANSA, getOperation(b));
  set(cublasLtMatmulDescSetAttribute, made, CUBLASLT_MATMUL_DESC_TRANSB, getOperation(a));
  operandA = describe(a);
  operandB = describe(b);
  operandC = describe(c);
}

BlasProduct::Preference BlasProduct::makePreference() const {
  cublasLtMatmulPreference_t made = nullptr;
  check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  Preference preference(made);
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    set(cublasLtMatmulPreferenceSetAttribute, made, attribute, value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(blasWorkspaceBytes));
  // Parts of sums over k are added in f32, not in the type of c.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, b.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, a.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c.alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c.alignment);
  return preference;
}

std::string BlasProduct::getText() const {
  return fmt::format("{} products of {}x{} and {}x{} of {}", count, a.rows, a.columns, b.rows,
                     b.columns, getName(dtype));
}

void BlasProduct::chooseAlgorithm(CudaContext &context) {
  Preference preference = makePreference();
  cublasLtMatmulHeuristicResult_t found = {};
  int numFound = 0;
  cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      context.getBlas(), description.get(), operandB.get(), operandA.get(), operandC.get(),
      operandC.get(), preference.get(), 1, &found, &numFound);
  if (status != CUBLAS_STATUS_SUCCESS || numFound == 0 || found.state != CUBLAS_STATUS_SUCCESS)
    throwFailure("cuBLASLt has no algorithm for {} ({})", getText(),
                 cublasLtGetStatusString(status));
  algorithm = found.algo;
}

void BlasProduct::enqueue(CudaContext &context, CUdeviceptr addressA, CUdeviceptr addressB,
                          CUdeviceptr addressC, CUdeviceptr workspace, CUstream stream) const {
  static const Scale one(1), none(0);
  auto data = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  cublasStatus_t status = cublasLtMatmul(
      context.getBlas(), description.get(), one.get(dtype), data(addressB), operandB.get(),
      data(addressA), operandA.get(), (accumulate ? one : none).get(dtype), data(addressC),
      operandC.get(), data(addressC), operandC.get(), &algorithm, data(workspace),
      blasWorkspaceBytes, stream);
  if (status != CUBLAS_STATUS_SUCCESS)
    throwFailure("cublasLtMatmul of {}: {}", getText(), cublasLtGetStatusString(status));
}

} // namespace weft::runtime
