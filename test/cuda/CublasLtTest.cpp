//===- CublasLtTest.cpp - the stand-in for cuBLASLt -----------------------===//

#include "test/cuda/StandInFixture.h"

#include <catch2/catch.hpp>
#include <cublasLt.h>

#include <optional>

namespace weft::test {

namespace {

/// A product of floats, by rows unless told otherwise.
struct Product {
  Product(uint64_t m, uint64_t n, uint64_t k, cublasComputeType_t compute = CUBLAS_COMPUTE_32F) {
    REQUIRE(cublasLtCreate(&handle) == 0);
    REQUIRE(cublasLtMatmulDescCreate(&how, compute, CUDA_R_32F) == 0);
    a = makeLayout(m, k);
    b = makeLayout(k, n);
    c = makeLayout(m, n);
    REQUIRE(cublasLtMatmulPreferenceCreate(&preference) == 0);
  }
  ~Product() {
    cublasLtMatmulPreferenceDestroy(preference);
    for (auto layout : {a, b, c})
      cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(how);
    cublasLtDestroy(handle);
  }

  static cublasLtMatrixLayout_t makeLayout(uint64_t rows, uint64_t cols) {
    cublasLtMatrixLayout_t layout;
    REQUIRE(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, rows, cols, cols) == 0);
    int32_t order = CUBLASLT_ORDER_ROW;
    REQUIRE(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                             sizeof order) == 0);
    return layout;
  }

  template <class T> void set(cublasLtMatmulDescAttributes_t name, T value) {
    REQUIRE(cublasLtMatmulDescSetAttribute(how, name, &value, sizeof value) == 0);
  }
  template <class T>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name, T value) {
    REQUIRE(cublasLtMatrixLayoutSetAttribute(layout, name, &value, sizeof value) == 0);
  }

  cublasStatus_t find(uint64_t workspace, cublasLtMatmulHeuristicResult_t &result, int &count) {
    REQUIRE(cublasLtMatmulPreferenceSetAttribute(preference,
                                                 CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                 &workspace, sizeof workspace) == 0);
    return cublasLtMatmulAlgoGetHeuristic(handle, how, a, b, c, c, preference, 1, &result, &count);
  }

  cublasStatus_t run(const DeviceArray<float> &x, const DeviceArray<float> &y,
                     const DeviceArray<float> &z, float alpha = 1, float beta = 0,
                     const cublasLtMatmulAlgo_t *algorithm = nullptr, CUdeviceptr workspace = 0,
                     size_t bytes = 0) {
    auto at = [](const DeviceArray<float> &array) {
      return reinterpret_cast<void *>(array.address);
    };
    return cublasLtMatmul(handle, how, &alpha, at(x), a, at(y), b, &beta, at(z), c, at(z), c,
                          algorithm, reinterpret_cast<void *>(workspace), bytes, nullptr);
  }

  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulPreference_t preference;
};

} // namespace

TEST_CASE("a product by rows, scaled and added") {
  useDevice(0);
  Product product(2, 2, 3);
  DeviceArray<float> x({1, 2, 3, 4, 5, 6}), y({1, 0, 0, 1, 1, 1}), z({10, 20, 30, 40});
  REQUIRE(product.run(x, y, z, 2, 0.5f) == CUBLAS_STATUS_SUCCESS);
  CHECK(z.read() == std::vector<float>{13, 20, 35, 42});
}

TEST_CASE("a product by columns, transposed, in batches with a bias") {
  useDevice(0);
  Product product(2, 2, 3);
  DeviceArray<float> bias({100, 200});
  product.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  product.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_RELU_BIAS));
  product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<void *>(bias.address));
  product.set(product.a, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(3));
  product.set(product.a, CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t(2));
  for (auto [layout, ld, stride] :
       {std::tuple(product.a, 3, 6), std::tuple(product.b, 3, 6), std::tuple(product.c, 2, 4)}) {
    product.set(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t(CUBLASLT_ORDER_COL));
    product.set(layout, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(ld));
    product.set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
    product.set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t(stride));
  }
  // Each column of a with each of b.
  DeviceArray<float> x({1, 2, 3, 4, 5, 6, 0, 0, 1, 0, 1, 0}),
      y({1, 0, 0, 1, 1, 1, 7, 8, 9, -900, 0, -900});
  DeviceArray<float> z(std::vector<float>(8, 1));
  REQUIRE(product.run(x, y, z) == CUBLAS_STATUS_SUCCESS);
  CHECK(z.read() == std::vector<float>{101, 204, 106, 215, 109, 208, 0, 200});
}

TEST_CASE("an algorithm gets the workspace and the alignment that it was chosen for") {
  useDevice(0);
  Product product(2, 2, 2);
  DeviceArray<float> x({1, 2, 3, 4}), y({1, 0, 0, 1}), z({0, 0, 0, 0});
  DeviceArray<uint8_t> workspace(std::vector<uint8_t>(1 << 20));
  cublasLtMatmulHeuristicResult_t result;
  int count = 0;
  REQUIRE(product.find(1 << 20, result, count) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(count == 1);
  CHECK(result.workspaceSize == 1 << 20);
  CHECK(product.run(x, y, z, 1, 0, &result.algo) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(product.run(x, y, z, 1, 0, &result.algo, workspace.address, 1 << 20) ==
        CUBLAS_STATUS_SUCCESS);
  CHECK(z.read() == x.read());
  REQUIRE(product.find(1000, result, count) == CUBLAS_STATUS_SUCCESS);
  CHECK(result.workspaceSize == 0);
  DeviceArray<float> more({0, 1, 2, 3, 4});
  more.address += 4;
  CHECK(product.run(more, y, z, 1, 0, &result.algo) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(product.run(more, y, z) == CUBLAS_STATUS_SUCCESS);
  CHECK(z.read() == std::vector<float>{1, 2, 3, 4});
  more.address -= 4;
}

TEST_CASE("what contradicts itself, and types that do not go together, are told") {
  useDevice(0);
  cublasLtMatmulHeuristicResult_t result;
  int count = 0;
  {
    Product product(2, 2, 3);
    product.set(product.a, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(2));
    CHECK(product.find(0, result, count) == CUBLAS_STATUS_INVALID_VALUE);
  }
  {
    Product product(2, 2, 3);
    product.set(product.b, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(4));
    CHECK(product.find(0, result, count) == CUBLAS_STATUS_INVALID_VALUE);
  }
  {
    Product product(2, 2, 3);
    product.set(product.a, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t(CUDA_R_16BF));
    CHECK(product.find(0, result, count) == CUBLAS_STATUS_NOT_SUPPORTED);
    product.set(product.b, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t(CUDA_R_16BF));
    CHECK(product.find(0, result, count) == CUBLAS_STATUS_SUCCESS);
    product.set(CUBLASLT_MATMUL_DESC_SCALE_TYPE, int32_t(CUDA_R_64F));
    CHECK(product.find(0, result, count) == CUBLAS_STATUS_NOT_SUPPORTED);
    int16_t narrow = 0;
    CHECK(cublasLtMatmulDescSetAttribute(product.how, CUBLASLT_MATMUL_DESC_TRANSA, &narrow,
                                         sizeof narrow) == CUBLAS_STATUS_INVALID_VALUE);
  }
}

TEST_CASE("a large product is right, and fast enough") {
  useDevice(0);
  constexpr uint64_t size = 300;
  std::vector<float> left(size * size), right(size * size);
  for (uint64_t i = 0; i < size * size; ++i)
    left[i] = static_cast<float>(i % 7) - 3, right[i] = static_cast<float>(i % 5) - 2;
  Product product(size, size, size);
  DeviceArray<float> x(left), y(right), z(std::vector<float>(size * size, 0));
  REQUIRE(product.run(x, y, z) == CUBLAS_STATUS_SUCCESS);
  std::vector<float> got = z.read();
  for (uint64_t i = 0; i < size; i += 37)
    for (uint64_t j = 0; j < size; j += 41) {
      float sum = 0;
      for (uint64_t k = 0; k < size; ++k)
        sum += left[i * size + k] * right[k * size + j];
      CHECK(got[i * size + j] == sum);
    }
}

} // namespace weft::test
