// Shardings that stand in a module: which are decisions, and what propagation leaves of them.
#include "compiler/Sharding/PlannedModule.h"

#include "compiler/Sharding/Decisions.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {
struct Fixture {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  Fixture() { context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>(); }

  /// Reads a module whose mesh is x=2, y=2; `S[…]` stands for a sharding on it.
  void parse(std::string text) {
    for (size_t at = 0; (at = text.find("S[", at)) != std::string::npos;) {
      size_t end = text.find(']', at);
      std::string dims = text.substr(at + 1, end - at);
      text.replace(at, end - at + 1, "dist.sharding = #dist.sharding<@mesh, " + dims + ">");
    }
    module = parseSourceString<ModuleOp>("dist.mesh @mesh <[\"x\"=2, \"y\"=2]>\n" + text, &context);
    REQUIRE(module);
  }

  void propagate() {
    std::optional<PlannedModule> planned = PlannedModule::get(*module);
    REQUIRE(planned);
    planned->propagate();
    planned->annotate();
  }

  func::FuncOp main() { return module->lookupSymbol<func::FuncOp>("main"); }
  BlockArgument argument(unsigned index) { return main().getArgument(index); }
  /// The result of the operation of @main with that number.
  Value result(unsigned index) {
    return std::next(main().getBody().front().begin(), index)->getResult(0);
  }
  std::string str(dist::ShardingAttr sharding) {
    MeshShape mesh = getMeshShape(*module->getOps<dist::MeshOp>().begin());
    return sharding ? weft::str(mesh, fromAttr(sharding, mesh)) : "none";
  }
  std::string str(Value value) { return str(dist::getSharding(value)); }
  std::string print() {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    return text;
  }
};
} // namespace

TEST_CASE_METHOD(Fixture, "what is written is decided, what follows is not") {
  parse(R"(func.func @main(%x: tensor<4x8xf32> {S[{"x"}, {}]}) -> tensor<4x8xf32> {
    %0 = weft.exp %x : tensor<4x8xf32>
    %1 = weft.tanh %0 {S[{"x"}, {"y"}]} : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  })");
  CHECK(isDecided(argument(0)));
  CHECK_FALSE(isDecided(result(0)));
  propagate();
  CHECK(isDecided(argument(0)));
  CHECK(isDecided(result(1)));
  CHECK_FALSE(isDecided(result(0)));
  CHECK(str(argument(0)) == R"([{"x"}, {}])");
  CHECK(str(result(0)) == R"([{"x"}, {"y"}])");
  CHECK(str(result(1)) == R"([{"x"}, {"y"}])");
}

TEST_CASE_METHOD(Fixture, "propagating again changes nothing") {
  parse(R"(weft.weight @w : tensor<8x6xf32> = #weft.external<"w", 0, 192> {S[{}, {"y"}]}
  func.func @main(%x: tensor<4x8xf32> {S[{"x"}, {}]}) -> (tensor<4x6xf32> {S[{}, {}]}) {
    %w = weft.load @w : tensor<8x6xf32>
    %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  })");
  propagate();
  std::string once = print();
  propagate();
  CHECK(print() == once);
}

TEST_CASE_METHOD(Fixture, "an edit of what followed is kept") {
  parse(R"(func.func @main(%x: tensor<4x8xf32> {S[{"x"}, {}]}) -> tensor<4x8xf32> {
    %0 = weft.exp %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  })");
  propagate();
  std::string text = print();
  const std::string followed =
      "weft.exp %arg0 {dist.sharding = #dist.sharding<@mesh, [{\"x\"}, {}]>}";
  size_t at = text.find(followed);
  REQUIRE(at != std::string::npos);
  text.replace(at, followed.size(),
               "weft.exp %arg0 {dist.sharding = #dist.sharding<@mesh, [{}, {\"y\"}]>}");
  module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  propagate();
  CHECK(str(result(0)) == R"([{}, {"y"}])");
  CHECK(str(argument(0)) == R"([{"x"}, {}])");
}

TEST_CASE_METHOD(Fixture, "a result of the function gives its sharding to what is returned") {
  parse(R"(func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32> {S[{"x"}, {}]}) {
    %0 = weft.exp %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  })");
  propagate();
  CHECK(str(argument(0)) == R"([{"x"}, {}])");
  CHECK(str(getKeptSharding(main(), 0)) == R"([{"x"}, {}])");
}

TEST_CASE_METHOD(Fixture, "a value and the result that returns it may lie unlike") {
  parse(R"(func.func @main(%x: tensor<4x8xf32>) ->
      (tensor<4x8xf32> {S[{"x"}, {}]}, tensor<4x8xf32> {S[{}, {"y"}]}) {
    %0 = weft.exp %x {S[{}, {"x"}]} : tensor<4x8xf32>
    return %0, %0 : tensor<4x8xf32>, tensor<4x8xf32>
  })");
  propagate();
  CHECK(str(result(0)) == R"([{}, {"x"}])");
  CHECK(str(getKeptSharding(main(), 0)) == R"([{"x"}, {}])");
  CHECK(str(getKeptSharding(main(), 1)) == R"([{}, {"y"}])");
}

TEST_CASE_METHOD(Fixture, "a weight keeps its storage whatever its loads are") {
  parse(R"(weft.weight @w : tensor<4x8xf32> = #weft.external<"w", 0, 128> {S[{"x"}, {}]}
  func.func @main() -> tensor<4x8xf32> {
    %w = weft.load @w {S[{}, {"y"}]} : tensor<4x8xf32>
    %0 = weft.exp %w : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  })");
  propagate();
  auto weight = *module->getOps<WeightOp>().begin();
  CHECK(str(weight->getAttrOfType<dist::ShardingAttr>("dist.sharding")) == R"([{"x"}, {}])");
  CHECK(str(result(0)) == R"([{}, {"y"}])");
  CHECK(str(result(1)) == R"([{}, {"y"}])");
}

TEST_CASE_METHOD(Fixture, "of several results those are decided that are marked") {
  parse(R"(func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>) {
    %0, %1 = weft.sort %x axis 1 count 2 descending : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi64>
    return %0, %1 : tensor<4x2xf32>, tensor<4x2xi64>
  })");
  Operation *op = result(0).getDefiningOp();
  MeshShape mesh = getMeshShape(*module->getOps<dist::MeshOp>().begin());
  pinSharding(op->getResult(1),
              toAttr(&context, {{{fullAxis(mesh, 0)}, {}}, {}, ReduceKind::Sum}, mesh));
  CHECK_FALSE(isDecided(op->getResult(0)));
  CHECK(isDecided(op->getResult(1)));
  propagate();
  CHECK(str(op->getResult(0)) == R"([{"x"}, {}])"); // not what stood in for it
  CHECK_FALSE(isDecided(op->getResult(0)));
}
