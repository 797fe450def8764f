#include "compiler/Graph/BlockRanges.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <set>

using namespace mlir;
using namespace weft;

namespace {
/// An embedding, layers of a product by a weight that is read through a transpose and the stream,
/// to which an input is added in each, and a head. Where `shows`, what the third layer makes is
/// returned, too.
std::string makeModel(int layers, bool shows) {
  std::string weights, body;
  auto multiply = [&](const std::string &name, const std::string &x) {
    weights +=
        fmt::format("weft.weight @{} : tensor<8x8xf32> = #weft.external<\"w\", 0, 256>\n", name);
    body += fmt::format("%{0}_w = weft.load @{0} : tensor<8x8xf32>\n"
                        "%{0}_t = weft.transpose %{0}_w [1, 0] : tensor<8x8xf32> -> "
                        "tensor<8x8xf32>\n"
                        "%{0} = weft.dot_general {1}, %{0}_t batch [] x [] contract [1] x [0] : "
                        "(tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n",
                        name, x);
  };
  multiply("embed", "%ids");
  body += "%x0 = weft.exp %embed : tensor<4x8xf32>\n";
  for (int i = 0; i < layers; ++i) {
    multiply(fmt::format("w{}", i), fmt::format("%x{}", i));
    body += fmt::format("%m{0} = weft.mul %w{0}, %mask : tensor<4x8xf32>\n"
                        "%x{1} = weft.add %x{0}, %m{0} : tensor<4x8xf32>\n",
                        i, i + 1);
  }
  multiply("head", fmt::format("%x{}", layers));
  return fmt::format("{}func.func @main(%ids: tensor<4x8xf32>, %mask: tensor<4x8xf32>) -> ({}) "
                     "{{\n{}return %head{} : {}\n}}",
                     weights, shows ? "tensor<4x8xf32>, tensor<4x8xf32>" : "tensor<4x8xf32>", body,
                     shows ? ", %x3" : "",
                     shows ? "tensor<4x8xf32>, tensor<4x8xf32>" : "tensor<4x8xf32>");
}

struct Fixture {
  explicit Fixture(bool shows = false) {
    context.loadDialect<func::FuncDialect, WeftDialect>();
    module = parseSourceString<ModuleOp>(makeModel(6, shows), &context);
    REQUIRE(module);
    ranges.emplace(module->lookupSymbol<func::FuncOp>("main"));
    REQUIRE(ranges->size() == 8);
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<BlockRanges> ranges;
};
} // namespace

TEST_CASE("ranges that are equal but for their weights' names are of one class") {
  Fixture model;
  uint64_t layer = model.ranges->classify(1, 2), two = model.ranges->classify(1, 3);
  for (size_t begin = 1; begin < 7; ++begin)
    CHECK(model.ranges->classify(begin, begin + 1) == layer);
  for (size_t begin = 1; begin < 6; ++begin)
    CHECK(model.ranges->classify(begin, begin + 2) == two);
  std::set<uint64_t> others{layer,
                            two,
                            model.ranges->classify(0, 1),
                            model.ranges->classify(7, 8),
                            model.ranges->classify(0, 2),
                            model.ranges->classify(6, 8),
                            model.ranges->classify(0, 8)};
  CHECK(others.size() == 7);
  Fixture shown(/*shows=*/true); // within two layers what the first one makes is handed on, too
  CHECK(shown.ranges->classify(3, 5) != shown.ranges->classify(1, 3));
  CHECK(shown.ranges->classify(1, 3) == shown.ranges->classify(4, 6));
}

TEST_CASE("a range takes what others make and hands on what they take") {
  Fixture model;
  ExtractedRange range = model.ranges->extract(2, 4);
  REQUIRE(succeeded(verify(*range.module)));
  auto main = range.module->lookupSymbol<func::FuncOp>("main");
  REQUIRE(range.arguments.size() == 2);
  CHECK(main.getNumArguments() == 2);
  size_t inputs =
      llvm::count_if(range.arguments, [](Value value) { return !value.getDefiningOp(); });
  CHECK(inputs == 1); // the mask, beside the stream
  REQUIRE(range.results.size() == 1);
  CHECK(main.getNumResults() == 1);
  CHECK(range.results.front() ==
        model.ranges->getBlocks().blocks[3].operations.back()->getResult(0));
  std::vector<std::string> weights;
  for (auto weight : range.module->getOps<WeightOp>())
    weights.push_back(weight.getSymName().str());
  llvm::sort(weights);
  CHECK(weights == std::vector<std::string>{"w1", "w2"});
  CHECK(llvm::count_if(main.getBody().front(),
                       [](Operation &op) { return isa<TransposeOp>(op); }) == 2);
  ExtractedRange whole = model.ranges->extract(0, 8);
  REQUIRE(succeeded(verify(*whole.module)));
  CHECK(whole.arguments.size() == 2);
  CHECK(whole.results.size() == 1);
}
