#include "compiler/Sharding/RecomputedOps.h"

#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {
/// Which operations of a function compute again what stands before operation `loss`, by number.
std::vector<size_t> findAgain(const std::string &text, size_t loss) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, WeftDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  Block &body = module->lookupSymbol<func::FuncOp>("main").getBody().front();
  RecomputedOps recomputed(body, &*std::next(body.begin(), loss));
  std::vector<size_t> again;
  for (auto [number, op] : llvm::enumerate(body))
    if (recomputed.contains(&op))
      again.push_back(number);
  return again;
}
} // namespace

TEST_CASE("what stands behind barriers of forward values, as it does before, is computed again") {
  CHECK(findAgain(R"(func.func @main(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = weft.exp %x : tensor<4xf32>
    %1 = weft.tanh %0 : tensor<4xf32>
    %2 = weft.barrier %0 : tensor<4xf32>
    %3 = weft.tanh %2 {said = 1} : tensor<4xf32>
    %4 = weft.exp %2 : tensor<4xf32>
    %5 = weft.mul %3, %g : tensor<4xf32>
    return %5 : tensor<4xf32>
  })",
                  1) == std::vector<size_t>{2, 3}); // exp of an exp was not there
}

TEST_CASE("attributes and operands tell operations apart") {
  CHECK(findAgain(R"(func.func @main(%x: tensor<4x4xf32>) -> tensor<f32> {
    %0 = weft.transpose %x [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = weft.sub %x, %0 : tensor<4x4xf32>
    %2 = weft.barrier %x : tensor<4x4xf32>
    %3 = weft.transpose %2 [0, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
    %4 = weft.transpose %2 [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %5 = weft.sub %4, %2 : tensor<4x4xf32>
    %6 = weft.sub %2, %4 : tensor<4x4xf32>
    %7 = weft.reduce sum %6 dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
    return %7 : tensor<f32>
  })",
                  1) == std::vector<size_t>{2, 4, 6});
}

TEST_CASE("of equal operations any may be computed again") {
  CHECK(findAgain(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = weft.exp %x : tensor<4xf32>
    %1 = weft.exp %x : tensor<4xf32>
    %2 = weft.tanh %1 : tensor<4xf32>
    %3 = weft.barrier %x : tensor<4xf32>
    %4 = weft.exp %3 : tensor<4xf32>
    %5 = weft.tanh %4 : tensor<4xf32>
    return %5 : tensor<4xf32>
  })",
                  2) == std::vector<size_t>{3, 4, 5});
}

TEST_CASE("a pass without a loss has nothing again") {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, WeftDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = weft.barrier %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  })",
      &context);
  REQUIRE(module);
  Block &body = module->lookupSymbol<func::FuncOp>("main").getBody().front();
  CHECK_FALSE(RecomputedOps(body, nullptr).contains(&body.front()));
}
