#include "compiler/Graph/Work.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

/// Of the function's operation before its return.
static int64_t count(const std::string &function) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, WeftDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(function, &context);
  REQUIRE(module);
  return countFlops(
      (*module->getOps<func::FuncOp>().begin()).front().getTerminator()->getPrevNode());
}

TEST_CASE("two operations for each pair that is multiplied and added") {
  CHECK(count(R"(func.func @f(%x: tensor<4x8x16xf32>, %w: tensor<16x32xf32>) -> tensor<4x8x32xf32> {
    %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0]
        : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
    return %0 : tensor<4x8x32xf32>
  })") == 2 * 4 * 8 * 16 * 32);
  CHECK(
      count(
          R"(func.func @f(%x: tensor<2x6x8x8xf32>, %k: tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32> {
    %0 = weft.conv %x, %k strides [1, 1] low [1, 1] high [1, 1] dilations [1, 1] groups 2
        : (tensor<2x6x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
    return %0 : tensor<2x4x8x8xf32>
  })") == 2 * (2 * 4 * 8 * 8) * (3 * 3 * 3));
}

static std::string makeAttention(const std::string &causal) {
  return R"(func.func @f(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32> {
    %0 = weft.attention %q, %k, %k scale 0.25 )" +
         causal + R"( masked_rows nan
        : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
    return %0 : tensor<2x4x8x16xf32>
  })";
}

TEST_CASE("attention multiplies scores and values, half of them where it looks back alone") {
  CHECK(count(makeAttention("")) == 2 * (2 * 4 * 8 * 8) * (16 + 16));
  CHECK(count(makeAttention("causal")) == 2 * (2 * 4 * 8 * 8) * 16);
}

TEST_CASE("attention's gradients make the scores again, and four products") {
  CHECK(
      count(
          R"(func.func @f(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x8x16xf32>, %v: tensor<2x2x8x6xf32>, %o: tensor<2x4x8x6xf32>,
                          %l: tensor<2x4x8xf32>) -> tensor<2x4x8x16xf32> {
    %0, %1, %2 = weft.attention_backward %q, %k, %v result %o lse %l gradient %o scale 0.25 masked_rows nan
        : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x6xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32>, tensor<2x4x8x6xf32>)
        -> (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x6xf32>)
    return %0 : tensor<2x4x8x16xf32>
  })") == 2 * (2 * 4 * 8 * 8) * (3 * 16 + 2 * 6));
}

TEST_CASE("what moves elements does no arithmetic, what computes one an element") {
  CHECK(count(R"(func.func @f(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
    %0 = weft.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  })") == 0);
  CHECK(count(R"(func.func @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {
    %0 = weft.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  })") == 32);
}
