//===- BlasProduct.h - a product by cuBLASLt --------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CUDA_BLASPRODUCT_H
#define WEFT_RUNTIME_CUDA_BLASPRODUCT_H

#include "runtime/Cuda/CudaContext.h"
#include "runtime/Device/MatrixProduct.h"

#include <memory>

namespace weft::runtime {

/// What a product may use beside its operands.
inline constexpr int64_t blasWorkspaceBytes = 32 << 20;

/// A batch of matrices, each row-major or transposed. Strides count elements.
struct BlasMatrix {
  Layout layout;
  int64_t rows = 0, columns = 0;
  int64_t batchStride = 0;
  uint32_t alignment = 256; ///< of every address that it will lie at, in bytes; a power of 2
};

/// c[i] = a[i]·b[i], or c[i] += a[i]·b[i], for i in [0, count): one call of the library. f16, bf16
/// and f32 are summed in f32, and f32 is never shortened; f64 in f64.
class BlasProduct {
public:
  /// All of one element type of these, no extent of them 0, c row-major.
  BlasProduct(DType dtype, const BlasMatrix &a, const BlasMatrix &b, const BlasMatrix &c,
              int64_t count, bool accumulate);

  /// The library's first choice; an Error of kind Failure where it has none.
  void chooseAlgorithm(CudaContext &context);
  /// Enqueues it, with `workspace` of blasWorkspaceBytes.
  void enqueue(CudaContext &context, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c,
               CUdeviceptr workspace, CUstream stream) const;

private:
  template <typename Handle, cublasStatus_t (*destroy)(Handle)> struct Destroy {
    using pointer = Handle;
    void operator()(Handle handle) const { destroy(handle); }
  };
  template <typename Handle, cublasStatus_t (*destroy)(Handle)>
  using Owned = std::unique_ptr<Handle, Destroy<Handle, destroy>>;
  using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
  using Operand = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

  Operand describe(const BlasMatrix &matrix) const;
  Preference makePreference() const;
  std::string getText() const;

  DType dtype;
  BlasMatrix a, b, c;
  int64_t count;
  bool accumulate;
  Description description;
  Operand operandA, operandB, operandC;
  cublasLtMatmulAlgo_t algorithm = {};
};

/// Whether the library multiplies matrices of the type.
bool isOfBlas(DType dtype);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_BLASPRODUCT_H
