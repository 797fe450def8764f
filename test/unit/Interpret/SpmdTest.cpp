// Programs of several ranks: the values of every collective, by hand, and what is refused.
#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {
using Numbers = std::vector<double>;

/// Four ranks on the mesh x=2, y=2; rank r is at (r / 2, r mod 2).
struct Fixture {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  Fixture() { context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>(); }

  dist::MeshOp mesh() { return *module->getOps<dist::MeshOp>().begin(); }

  void parse(const std::string &text) {
    module = parseSourceString<ModuleOp>("dist.mesh @mesh <[\"x\"=2, \"y\"=2]>\n" + text, &context);
    REQUIRE(module);
  }
  Tensor tensor(ArrayRef<int64_t> shape, const Numbers &numbers) {
    return tensorOf(RankedTensorType::get(shape, Float32Type::get(&context)), numbers);
  }
  /// Runs one operation on %0, whose value on rank r is `inputs[r]`, of `shape`.
  std::vector<Numbers> run(const std::string &op, const std::string &type,
                           const std::string &resultType, ArrayRef<int64_t> shape,
                           const std::vector<Numbers> &inputs) {
    parse("func.func @main(%0: " + type + ") -> " + resultType + " {\n%1 = " + op +
          "\nreturn %1 : " + resultType + "\n}");
    RankValues values;
    for (const Numbers &input : inputs)
      values.push_back(tensor(shape, input));
    auto results = interpretSpmd(*module, mesh(), {values});
    REQUIRE(bool(results));
    std::vector<Numbers> numbers;
    for (const Tensor &result : results->front())
      numbers.push_back(numbersOf<double>(result));
    return numbers;
  }
};

const std::vector<Numbers> ranks{{0, 1}, {10, 11}, {20, 21}, {30, 31}};
} // namespace

TEST_CASE_METHOD(Fixture, "all_gather joins blocks in the order of coordinates") {
  CHECK(run("dist.all_gather %0 dim 0 axes [\"y\"] on @mesh : tensor<2xf32> -> tensor<4xf32>",
            "tensor<2xf32>", "tensor<4xf32>", {2}, ranks) ==
        std::vector<Numbers>{{0, 1, 10, 11}, {0, 1, 10, 11}, {20, 21, 30, 31}, {20, 21, 30, 31}});
  CHECK(
      run("dist.all_gather %0 dim 0 axes [\"y\", \"x\"] on @mesh : tensor<2xf32> -> tensor<8xf32>",
          "tensor<2xf32>", "tensor<8xf32>", {2},
          ranks)[1] == Numbers{0, 1, 20, 21, 10, 11, 30, 31});
}

TEST_CASE_METHOD(Fixture, "all_reduce joins each group alone") {
  CHECK(run("dist.all_reduce sum %0 axes [\"x\"] on @mesh : tensor<2xf32>", "tensor<2xf32>",
            "tensor<2xf32>", {2},
            ranks) == std::vector<Numbers>{{20, 22}, {40, 42}, {20, 22}, {40, 42}});
  CHECK(run("dist.all_reduce max %0 axes [\"x\", \"y\"] on @mesh : tensor<2xf32>", "tensor<2xf32>",
            "tensor<2xf32>", {2}, ranks) == std::vector<Numbers>(4, {30, 31}));
}

TEST_CASE_METHOD(Fixture, "all_to_all moves a split") {
  // Rank 0 and 1 (x = 0) hold the columns of [[0, 10], [1, 11]]; afterwards its rows.
  CHECK(run("dist.all_to_all %0 split 0 concat 1 axes [\"y\"] on @mesh : tensor<2x1xf32> -> "
            "tensor<1x2xf32>",
            "tensor<2x1xf32>", "tensor<1x2xf32>", {2, 1},
            ranks) == std::vector<Numbers>{{0, 10}, {1, 11}, {20, 30}, {21, 31}});
}

TEST_CASE_METHOD(Fixture, "permute exchanges coordinates") {
  CHECK(run("dist.permute %0 from [\"x\", \"y\"] to [\"y\", \"x\"] on @mesh : tensor<2xf32>",
            "tensor<2xf32>", "tensor<2xf32>", {2},
            ranks) == std::vector<Numbers>{{0, 1}, {20, 21}, {10, 11}, {30, 31}});
}

TEST_CASE_METHOD(Fixture, "reduce_scatter leaves each rank its block of the sum") {
  CHECK(
      run("dist.reduce_scatter sum %0 dim 0 axes [\"y\"] on @mesh : tensor<2xf32> -> tensor<1xf32>",
          "tensor<2xf32>", "tensor<1xf32>", {2},
          ranks) == std::vector<Numbers>{{10}, {12}, {50}, {52}});
}

TEST_CASE_METHOD(Fixture, "mask_padding replaces what lies behind the extent") {
  CHECK(run("dist.mask_padding max %0 dim 0 of 3 axes [\"y\"] on @mesh : tensor<2xf32>",
            "tensor<2xf32>", "tensor<2xf32>", {2},
            ranks) == std::vector<Numbers>{{0, 1}, {10, -INFINITY}, {20, 21}, {30, -INFINITY}});
  CHECK(run("dist.mask_padding sum %0 dim 0 of 1 axes [\"x\"] on @mesh : tensor<2xf32>",
            "tensor<2xf32>", "tensor<2xf32>", {2},
            ranks) == std::vector<Numbers>{{0, 0}, {10, 0}, {0, 0}, {0, 0}});
}

TEST_CASE_METHOD(Fixture, "slice takes the rank's own block") {
  CHECK(run("dist.slice %0 dim 0 axes [\"x\"] on @mesh : tensor<2xf32> -> tensor<1xf32>",
            "tensor<2xf32>", "tensor<1xf32>", {2},
            ranks) == std::vector<Numbers>{{0}, {10}, {21}, {31}});
}

TEST_CASE_METHOD(Fixture, "offset counts from the first axis") {
  parse("func.func @main() -> tensor<i64> {\n"
        "%0 = dist.offset axes [\"y\", \"x\"] block 5 on @mesh : tensor<i64>\nreturn %0 : "
        "tensor<i64>\n}");
  auto results = interpretSpmd(*module, mesh(), {});
  REQUIRE(bool(results));
  std::vector<int64_t> starts;
  for (const Tensor &value : results->front())
    starts.push_back(numbersOf<int64_t>(value)[0]);
  CHECK(starts == std::vector<int64_t>{0, 10, 5, 15});
}

TEST_CASE_METHOD(Fixture, "load_shard reads a block of a strided view") {
  // The transpose of a 2x4 weight, its rows split over y.
  parse("weft.weight @w : tensor<2x4xf32> = #weft.external<\"w\", 0, 32>\n"
        "func.func @main() -> tensor<2x2xf32> {\n"
        "%0 = dist.load_shard @w start 0 shape [4, 2] strides [1, 4] sharding <@mesh, [{\"y\"}, "
        "{}]> : "
        "tensor<2x2xf32>\nreturn %0 : tensor<2x2xf32>\n}");
  auto results = interpretSpmd(*module, mesh(), {}, [&](WeightOp) -> llvm::Expected<Tensor> {
    return tensor({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  });
  REQUIRE(bool(results));
  CHECK(numbersOf<double>(results->front()[0]) == Numbers{0, 4, 1, 5});
  CHECK(numbersOf<double>(results->front()[3]) == Numbers{2, 6, 3, 7});
}

TEST_CASE_METHOD(Fixture, "shards assemble to what they were cut from") {
  parse("func.func private @none()");
  auto sharding = cast<dist::ShardingAttr>(
      parseAttribute("#dist.sharding<@mesh, [{\"y\"}, {\"x\"}]>", &context));
  Tensor global = tensor({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  RankValues shards = shardsOf(global, mesh(), sharding);
  CHECK(numbersOf<double>(shards[1]) == Numbers{4, 5}); // x = 0, y = 1
  auto again = assemble(shards, mesh(), sharding, global.type());
  REQUIRE(bool(again));
  CHECK(again->raw() == global.raw());
}

TEST_CASE_METHOD(Fixture, "what is padded assembles from what is the tensor's") {
  parse("func.func private @none()");
  auto sharding =
      cast<dist::ShardingAttr>(parseAttribute("#dist.sharding<@mesh, [{\"x\", \"y\"}]>", &context));
  Tensor global = tensor({5}, {1, 2, 3, 4, 5});
  RankValues shards = shardsOf(global, mesh(), sharding);
  std::vector<Numbers> held;
  for (const Tensor &shard : shards)
    held.push_back(numbersOf<double>(shard));
  CHECK(held == std::vector<Numbers>{{1, 2}, {3, 4}, {5, 0}, {0, 0}});
  shards[2] = tensor({2}, {5, 7}); // what padding holds does not count
  shards[3] = tensor({2}, {8, 9});
  auto again = assemble(shards, mesh(), sharding, global.type());
  REQUIRE(bool(again));
  CHECK(again->raw() == global.raw());
}

TEST_CASE_METHOD(Fixture, "replicas that differ do not assemble") {
  parse("func.func private @none()");
  auto sharding =
      cast<dist::ShardingAttr>(parseAttribute("#dist.sharding<@mesh, [{\"y\"}]>", &context));
  RankValues shards{tensor({1}, {0}), tensor({1}, {1}), tensor({1}, {0}), tensor({1}, {2})};
  auto global =
      assemble(shards, mesh(), sharding, RankedTensorType::get({2}, Float32Type::get(&context)));
  REQUIRE(!global);
  CHECK(llvm::toString(global.takeError()) ==
        "rank 1 holds other values than a rank that has the same block");
}

TEST_CASE_METHOD(Fixture, "a failure names the rank, the operation and its source") {
  parse("func.func @main(%0: tensor<2xf32>, %1: tensor<1xi64>) -> tensor<1xf32> {\n"
        "%2 = weft.gather %0, %1 axis 0 : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32> "
        "loc(\"rows\")\n"
        "return %2 : tensor<1xf32>\n}");
  RankValues table(4, tensor({2}, {0, 1})), indices;
  for (int64_t index : {0, 1, 5, 0})
    indices.push_back(
        tensorOf<int64_t>(RankedTensorType::get({1}, IntegerType::get(&context, 64)), {index}));
  auto results = interpretSpmd(*module, mesh(), {table, indices});
  REQUIRE(!results);
  CHECK(llvm::toString(results.takeError()) ==
        "weft.gather 'rows': rank 2: index 5 is out of range [-2, 2)");
}

namespace {
const char *const parts = R"(
  dist.mesh @a <["x"=2]>
  dist.mesh @b <["y"=4], first_device = 2>
  func.func @part0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @a} {
    %0 = weft.neg %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @part1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.mesh = @b} {
    %0 = weft.mul %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = call @part0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @part1(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %2:2 = dist.cross_mesh_all_reduce max %0 on @a, %1 on @b : tensor<4xf32>
    return %2#0, %2#1 : tensor<4xf32>, tensor<4xf32>
  })";

const char *const localParts = R"(
  dist.mesh @a <["x"=2]>
  dist.mesh @b <["y"=4], first_device = 2>
  func.func @part0(%x: tensor<2xf32>) -> tensor<2xf32> attributes {dist.mesh = @a} {
    %0 = weft.neg %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @part1(%x: tensor<1xf32>) -> tensor<4xf32> attributes {dist.mesh = @b} {
    %0 = weft.mul %x, %x : tensor<1xf32>
    %1 = dist.all_gather %0 dim 0 axes ["y"] on @b : tensor<1xf32> -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func @main(%x: tensor<2xf32> {dist.sharding = #dist.sharding<@a, [{"x"}]>, weft.global_type = tensor<4xf32>})
      -> (tensor<4xf32> {dist.sharding = #dist.sharding<@b, [{}]>, weft.global_type = tensor<4xf32>}) {
    %0 = call @part0(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = dist.transfer %0 from <@a, [{"x"}]> to <@b, [{"y"}]> : tensor<2xf32> -> tensor<1xf32>
    %2 = call @part1(%1) : (tensor<1xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  })";
} // namespace

TEST_CASE_METHOD(Fixture, "cross_mesh_all_reduce gives every mesh what all make") {
  module = parseSourceString<ModuleOp>(parts, &context);
  REQUIRE(module);
  auto results = interpret(*module, tensor({4}, {-3, 0.5, 2, 1}));
  REQUIRE(bool(results));
  for (const Tensor &result : *results)
    CHECK(numbersOf<double>(result) == Numbers{9, 0.25, 4, 1});
}

TEST_CASE_METHOD(Fixture, "parts run on the ranks of their meshes, and send between them") {
  module = parseSourceString<ModuleOp>(localParts, &context);
  REQUIRE(module);
  auto results = interpretPartitioned(*module, tensor({4}, {1, 2, 3, 4}));
  REQUIRE(bool(results));
  CHECK(numbersOf<double>(results->front()) == Numbers{1, 4, 9, 16});
}
