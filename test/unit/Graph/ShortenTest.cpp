#include "compiler/Graph/Shorten.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace mlir;
using namespace weft;

namespace {
/// An embedding, layers of a product and the stream, and a head. Where `shows`, what the third
/// layer makes is returned, too.
std::string makeModel(int layers, bool shows) {
  std::string weights, body;
  auto declare = [&](const std::string &name) {
    weights +=
        fmt::format("weft.weight @{} : tensor<8x8xf32> = #weft.external<\"w\", 0, 256>\n", name);
  };
  auto multiply = [&](const std::string &name, const std::string &x) {
    declare(name);
    body += fmt::format("%{0}_w = weft.load @{0} : tensor<8x8xf32>\n"
                        "%{0} = weft.dot_general {1}, %{0}_w batch [] x [] contract [1] x [0] : "
                        "(tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n",
                        name, x);
  };
  multiply("embed", "%ids");
  body += "%x0 = weft.exp %embed : tensor<4x8xf32>\n";
  for (int i = 0; i < layers; ++i) {
    multiply(fmt::format("w{}", i), fmt::format("%x{}", i));
    body += fmt::format("%t{0} = weft.tanh %w{0} : tensor<4x8xf32>\n"
                        "%x{1} = weft.add %x{0}, %t{0} : tensor<4x8xf32>\n",
                        i, i + 1);
  }
  multiply("head", fmt::format("%x{}", layers));
  return fmt::format(
      "{}func.func @main(%ids: tensor<4x8xf32>) -> ({}) {{\n{}return %head{} : {}\n}}", weights,
      shows ? "tensor<4x8xf32>, tensor<4x8xf32>" : "tensor<4x8xf32>", body, shows ? ", %x3" : "",
      shows ? "tensor<4x8xf32>, tensor<4x8xf32>" : "tensor<4x8xf32>");
}

struct Fixture {
  explicit Fixture(int layers, bool shows = false) {
    context.loadDialect<func::FuncDialect, WeftDialect>();
    module = parseSourceString<ModuleOp>(makeModel(layers, shows), &context);
    REQUIRE(module);
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

std::vector<std::string> listWeights(ModuleOp module) {
  std::vector<std::string> names;
  for (auto weight : module.getOps<WeightOp>())
    names.push_back(weight.getSymName().str());
  return names;
}
} // namespace

TEST_CASE("of many layers the first half and the last of a few are kept") {
  Fixture model(20);
  Shortener shortener(*model.module, 6);
  REQUIRE(shortener.getRuns().size() == 1);
  CHECK(shortener.getRuns().front().count >= 19);
  uint32_t leftOut = shortener.getRuns().front().count - 5;
  OwningOpRef<ModuleOp> copy = shortener.shorten({5u});
  REQUIRE(copy);
  CHECK(succeeded(verify(*copy)));
  std::vector<std::string> weights = listWeights(*copy), all = listWeights(*model.module);
  CHECK(weights.size() == all.size() - leftOut);
  CHECK(weights.front() == "embed");
  CHECK(weights.back() == "head");
  CHECK(weights[weights.size() - 2] == "w19");
  Shortener again(*copy, 2);
  CHECK(again.getRuns().front().count == 5);
}

TEST_CASE("a model whose layers are few, or seen from outside, is not shortened") {
  Fixture few(4);
  CHECK(Shortener(*few.module, 6).getRuns().empty());
  Fixture shown(20, /*shows=*/true);
  Shortener shortener(*shown.module, 6);
  for (const BlockRun &run : shortener.getRuns())
    if (run.count > 15)
      CHECK_FALSE(shortener.shorten(SmallVector<uint32_t>(shortener.getRuns().size(), 1)));
}
