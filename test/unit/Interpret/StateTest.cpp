// States from step to step: of a model, and of the program that its partition is.
#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {
using Numbers = std::vector<double>;

struct Fixture {
  MLIRContext context;

  Fixture() { context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>(); }

  OwningOpRef<ModuleOp> parse(const char *text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    return module;
  }
  Tensor tensor(const Numbers &numbers) {
    auto size = static_cast<int64_t>(numbers.size());
    return tensorOf(RankedTensorType::get({size}, Float32Type::get(&context)), numbers);
  }
};
} // namespace

TEST_CASE_METHOD(Fixture, "a step reads what the step before has stored") {
  auto module = parse(R"(
    weft.weight kind(state) @sum : tensor<2xf32> = dense<1.0> : tensor<2xf32>
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = weft.load @sum : tensor<2xf32>
      %1 = weft.add %0, %x : tensor<2xf32>
      weft.store @sum, %1 : tensor<2xf32>
      %2 = weft.load @sum : tensor<2xf32>
      return %1, %2 : tensor<2xf32>, tensor<2xf32>
    })");
  StateValues state;
  std::vector<Numbers> sums, olds;
  for (int step = 0; step < 3; ++step) {
    auto results = interpret(*module, tensor({1, 2}), readStoredWeight, "main", &state);
    REQUIRE(bool(results));
    sums.push_back(numbersOf<double>((*results)[0]));
    olds.push_back(numbersOf<double>((*results)[1]));
  }
  CHECK(sums == std::vector<Numbers>{{2, 3}, {3, 5}, {4, 7}});
  CHECK(olds == std::vector<Numbers>{{1, 1}, {2, 3}, {3, 5}});
  CHECK(numbersOf<double>(state.lookup("sum")) == Numbers{4, 7});
}

TEST_CASE_METHOD(Fixture, "devices store their blocks") {
  auto module = parse(R"(
    dist.mesh @mesh <["x"=2]>
    weft.weight kind(state) @sum : tensor<4xf32> = dense<1.0> : tensor<4xf32>
    func.func @main(%x: tensor<2xf32> {dist.sharding = #dist.sharding<@mesh, [{"x"}]>, weft.global_type = tensor<4xf32>}) {
      %0 = dist.load_shard @sum start 0 shape [4] strides [1] sharding <@mesh, [{"x"}]> : tensor<2xf32>
      %1 = weft.add %0, %x : tensor<2xf32>
      dist.store_shard @sum, %1 sharding <@mesh, [{"x"}]> : tensor<2xf32>
      return
    })");
  StateValues state;
  for (int step = 0; step < 2; ++step)
    REQUIRE(bool(interpretPartitioned(*module, tensor({1, 2, 3, 4}), readStoredWeight, &state)));
  CHECK(numbersOf<double>(state.lookup("sum")) == Numbers{3, 5, 7, 9});
}
