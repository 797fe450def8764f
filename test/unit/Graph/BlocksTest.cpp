#include "compiler/Graph/Blocks.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Parser/Parser.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <set>

using namespace mlir;
using namespace weft;

namespace {

/// Reads a module and finds the blocks of its function.
struct Fixture {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ModelBlocks model;

  explicit Fixture(const std::string &text) {
    context.loadDialect<func::FuncDialect, WeftDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    model = findBlocks(*module->getOps<func::FuncOp>().begin());
  }
  /// Of the blocks that have some.
  std::vector<int64_t> getParameters() const {
    std::vector<int64_t> parameters;
    for (const ModelBlock &block : model.blocks)
      if (block.parameters > 0)
        parameters.push_back(block.parameters);
    return parameters;
  }
  std::vector<uint32_t> getKinds() const {
    std::vector<uint32_t> kinds;
    for (const ModelBlock &block : model.blocks)
      kinds.push_back(block.kind);
    return kinds;
  }
};

std::string declare(const std::string &name, const std::string &type) {
  return fmt::format("weft.weight @{0} : tensor<{1}> = #weft.external<\"w\", 0, {2}>\n", name, type,
                     type == "16x8xf32" ? 512 : 256);
}

/// An embedding, `layers` of a product, a mask that all of them take, and the stream; a head on the
/// embedding's weight. The layers may share the weight of their product.
std::string makeModel(int layers, bool shared = false) {
  std::string weights = declare("table", "16x8xf32"), body = R"(
    %table = weft.load @table : tensor<16x8xf32>
    %x0 = weft.gather %table, %ids axis 0 : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
)";
  for (int i = 0; i < layers; ++i) {
    if (i == 0 || !shared)
      weights += declare(fmt::format("w{}", i), "8x8xf32");
    if (i == 0) // late, as raising leaves it
      body += R"(
    %limit = weft.constant dense<7> : tensor<4xi64>
    %below = weft.compare lt %ids, %limit : tensor<4xi64>
    %kept = weft.cast %below : tensor<4xi1> to tensor<4xf32>
    %mask = weft.broadcast %kept dims [0] : tensor<4xf32> to tensor<4x8xf32>
)";
    body += fmt::format(R"(
    %w{0} = weft.load @w{2} : tensor<8x8xf32>
    %t{0} = weft.transpose %w{0} [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
    %p{0} = weft.dot_general %x{0}, %t{0} batch [] x [] contract [1] x [0]
        : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %m{0} = weft.mul %p{0}, %mask : tensor<4x8xf32>
    %x{1} = weft.add %x{0}, %m{0} : tensor<4x8xf32>
)",
                        i, i + 1, shared ? 0 : i);
  }
  body += fmt::format(R"(
    %y = weft.dot_general %x{}, %table batch [] x [] contract [1] x [1]
        : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    return %y : tensor<4x16xf32>
)",
                      layers);
  return weights + "func.func @main(%ids: tensor<4xi64>) -> tensor<4x16xf32> {" + body + "}";
}

/// A training step of a product and the stream a layer, each of one of the weights: forwards,
/// backwards, and each weight's update.
std::string makeStep(const std::vector<std::string> &layers) {
  std::string weights, body, updates;
  for (const std::string &name : std::set<std::string>(layers.begin(), layers.end())) {
    weights += fmt::format(
        "weft.weight kind(trained) @{} : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>\n", name);
    body += fmt::format("%{0} = weft.load @{0} : tensor<8x8xf32>\n", name);
  }
  size_t count = layers.size();
  for (size_t i = 0; i < count; ++i)
    body += fmt::format(R"(
    %p{0} = weft.dot_general %x{0}, %{2} batch [] x [] contract [1] x [0]
        : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %m{0} = weft.tanh %p{0} : tensor<4x8xf32>
    %x{1} = weft.add %x{0}, %m{0} : tensor<4x8xf32>
)",
                        i, i + 1, layers[i]);
  body += fmt::format("%g{0} = weft.neg %x{0} : tensor<4x8xf32>\n", count);
  for (size_t i = count; i-- > 0;) {
    body += fmt::format(R"(
    %dp{0} = weft.mul %g{1}, %m{0} : tensor<4x8xf32>
    %dw{0} = weft.dot_general %x{0}, %dp{0} batch [] x [] contract [0] x [0]
        : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %dx{0} = weft.dot_general %dp{0}, %{2} batch [] x [] contract [1] x [1]
        : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %g{0} = weft.add %g{1}, %dx{0} : tensor<4x8xf32>
)",
                        i, i + 1, layers[i]);
    if (std::find(layers.begin() + i + 1, layers.end(), layers[i]) == layers.end())
      updates += fmt::format(R"(
    %new{0} = weft.sub %{1}, %dw{0} : tensor<8x8xf32>
    weft.store @{1}, %new{0} : tensor<8x8xf32>
)",
                             i, layers[i]);
  }
  return weights + "func.func @main(%x0: tensor<4x8xf32>) -> tensor<4x8xf32> {" + body + updates +
         fmt::format("return %g0 : tensor<4x8xf32>\n}}");
}

} // namespace

TEST_CASE("blocks have their operations, weights and work, and ends what blocks share") {
  Fixture fixture(makeModel(3));
  CHECK(fixture.getKinds() == std::vector<uint32_t>{0, 1, 1, 1, 2});
  const std::vector<ModelBlock> &blocks = fixture.model.blocks;
  CHECK(blocks[0].operations.size() == 4); // with the mask
  CHECK(blocks[0].parameters == 16 * 8);   // of the head too
  CHECK(blocks[4].parameters == 0);
  for (int i : {1, 2, 3}) {
    CHECK(blocks[i].operations.size() == 4);
    CHECK(blocks[i].parameters == 64);
    CHECK(blocks[i].flops == 2 * 4 * 8 * 8 + 2 * 4 * 8);
    CHECK(isa<AddOp>(blocks[i].last));
  }
  CHECK(blocks[4].flops == 2 * 4 * 8 * 16);
}

TEST_CASE(
    "the stream and what was prepared for later blocks are live, weights and inputs are not") {
  Fixture fixture(makeModel(3));
  int64_t stream = 4 * 8 * 4, mask = 4 * 8 * 4;
  CHECK(fixture.model.liveBytes ==
        std::vector<int64_t>{stream + mask, stream + mask, stream + mask, stream});
}

TEST_CASE("weights count where they are read first, whatever follows in a training step") {
  Fixture step(makeStep({"a", "b", "c"}));
  CHECK(step.getParameters() == std::vector<int64_t>{64, 64, 64});
  CHECK(step.model.blocks.back().parameters == 0); // where they are changed
}

TEST_CASE("a weight that layers share counts at the block before them") {
  CHECK(Fixture(makeModel(3, /*shared=*/true)).getParameters() ==
        std::vector<int64_t>{16 * 8 + 64});
}

TEST_CASE("blocks are the same however many there are") {
  Fixture fixture(makeModel(24));
  CHECK(fixture.model.blocks.size() == 26);
  CHECK(fixture.model.blocks[1].kind == fixture.model.blocks[24].kind);
}

/// The decoder's embedding is made first, and its first layer turns the memory for both.
TEST_CASE("what is made far from its use is where it is used, or where it can be first") {
  std::string weights = declare("table", "16x8xf32"), body = R"(
    %table = weft.load @table : tensor<16x8xf32>
    %y0 = weft.gather %table, %to axis 0 : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
    %x0 = weft.gather %table, %from axis 0 : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
)";
  for (int i = 0; i < 4; ++i) {
    bool decodes = i >= 2;
    weights += declare(fmt::format("w{}", i), "8x8xf32");
    std::string stream = decodes ? "y" : "x", turned = "8x4xf32", layer = R"(
    %w{0} = weft.load @w{0} : tensor<8x8xf32>
    %p{0} = weft.dot_general %{1}{2}, %w{0} batch [] x [] contract [1] x [0]
        : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
)";
    body += fmt::format(fmt::runtime(layer), i, stream, i % 2);
    std::string last = fmt::format("%p{}", i);
    if (i == 2)
      body += "    %m = weft.transpose %x2 [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>\n";
    if (decodes) {
      body += fmt::format(R"(
    %s{0} = weft.dot_general %p{0}, %m batch [] x [] contract [1] x [0]
        : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %c{0} = weft.dot_general %s{0}, %m batch [] x [] contract [1] x [1]
        : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>
)",
                          i);
      last = fmt::format("%c{}", i);
    }
    body += fmt::format("    %{0}{1} = weft.add %{0}{2}, {3} : tensor<4x8xf32>\n", stream,
                        i % 2 + 1, i % 2, last);
  }
  Fixture fixture(weights +
                  "func.func @main(%from: tensor<4xi64>, %to: tensor<4xi64>) -> tensor<4x8xf32> {" +
                  body + "    return %y2 : tensor<4x8xf32>\n}");
  CHECK(fixture.getKinds() == std::vector<uint32_t>{0, 1, 1, 2, 3, 4, 4}); // 2: turned, 3: embedded
}

TEST_CASE("what is stored belongs to the block that makes it") {
  Fixture fixture(R"(
    weft.weight kind(state) @cache : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>
    weft.weight @a : tensor<8x8xf32> = #weft.external<"w", 0, 256>
    weft.weight @b : tensor<8x8xf32> = #weft.external<"w", 0, 256>
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %c = weft.load @cache : tensor<4x8xf32>
      %a = weft.load @a : tensor<8x8xf32>
      %b = weft.load @b : tensor<8x8xf32>
      %0 = weft.dot_general %x, %a batch [] x [] contract [1] x [0]
          : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %1 = weft.add %0, %c : tensor<4x8xf32>
      %2 = weft.tanh %1 : tensor<4x8xf32>
      %3 = weft.dot_general %2, %b batch [] x [] contract [1] x [0]
          : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %4 = weft.add %3, %2 : tensor<4x8xf32>
      weft.store @cache, %1 : tensor<4x8xf32>
      return %4 : tensor<4x8xf32>
    })");
  REQUIRE(fixture.model.blocks.size() == 2);
  CHECK(isa<StoreOp>(fixture.model.blocks[0].operations.back()));
  CHECK(fixture.model.blocks[1].operations.size() == 2);
}

TEST_CASE("weights that are arguments count as weights, and no operation is lost") {
  Fixture fixture(R"(
    func.func @main(%x: tensor<4x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<4x8xf32> {
      %0 = weft.dot_general %x, %a batch [] x [] contract [1] x [0]
          : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %1 = weft.add %x, %0 : tensor<4x8xf32>
      %2 = weft.dot_general %1, %b batch [] x [] contract [1] x [0]
          : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %3 = weft.add %1, %2 : tensor<4x8xf32>
      return %3 : tensor<4x8xf32>
    })");
  size_t operations = 0;
  for (const ModelBlock &block : fixture.model.blocks)
    operations += block.operations.size();
  CHECK(operations == 4);
  CHECK(fixture.model.blocks.size() == 2);
  Fixture none("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }");
  REQUIRE(none.model.blocks.size() == 1);
  CHECK(none.model.liveBytes.empty());
}
