// Which kernels may follow what makes an argument, and how their tiles lie in its memory.
#include "compiler/Kernel/Epilogue.h"
#include "compiler/Kernel/KernelCompiler.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {

class Parsed {
public:
  explicit Parsed(const std::string &text) {
    context.loadDialect<WeftDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
  }
  func::FuncOp get() { return *module->getOps<func::FuncOp>().begin(); }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// An image [n, s, c] of which `argument`, [n, c, s] in that memory, is the first part of a sum.
std::string makeBiased(int64_t positions, int64_t channels) {
  std::string n = std::to_string(channels), s = std::to_string(positions);
  std::string first = "tensor<2x" + n + "x" + s + "xf32>",
              last = "tensor<2x" + s + "x" + n + "xf32>";
  std::string strides = std::to_string(positions * channels) + ", 1, " + n;
  return "func.func private @k(%x: " + first + " {exec.strides = array<i64: " + strides +
         ">}, %b: tensor<" + n + "xf32>) -> " + last + " attributes {exec.kernel} {\n" +
         "  %0 = weft.transpose %x [0, 2, 1] : " + first + " -> " + last + "\n" +
         "  %1 = weft.broadcast %b dims [2] : tensor<" + n + "xf32> to " + last + "\n" +
         "  %2 = weft.add %0, %1 : " + last + "\n  return %2 : " + last + "\n}";
}

} // namespace

// In lanes of which each finds its bias by a remainder, what a row computes is no plain vector
// loop.
TEST_CASE("rows of an image whose channels are last are its points") {
  Parsed parsed(makeBiased(3136, 256));
  std::optional<ResultTiles> tiles = getEpilogueTiles(parsed.get(), 0);
  REQUIRE(tiles);
  CHECK(tiles->tile == 256);
  CHECK(tiles->row == 256);
  CHECK(describeKernel(parsed.get())->tiles == 2 * 3136);
}

TEST_CASE("tiles cover the result, whatever its extents") {
  for (int64_t channels : {1, 3, 16, 100, 512, 5000, 9001})
    for (int64_t positions : {1, 7, 49, 3136}) {
      Parsed parsed(makeBiased(positions, channels));
      std::optional<ResultTiles> tiles = getEpilogueTiles(parsed.get(), 0);
      INFO(channels << " channels of " << positions << " points");
      REQUIRE(tiles);
      int64_t elements = 2 * positions * channels, inRow = (tiles->row - 1) / tiles->tile + 1;
      CHECK(elements % tiles->row == 0);
      CHECK(describeKernel(parsed.get())->tiles == elements / tiles->row * inRow);
    }
}

TEST_CASE("a kernel follows only what it reads in the result's place") {
  Parsed parsed(makeBiased(49, 64));
  CHECK(!getEpilogueTiles(parsed.get(), 1)); // the bias: of other extents
  Parsed turned(R"(
    func.func private @k(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {exec.kernel} {
      %0 = weft.transpose %x [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
      %1 = weft.add %0, %y : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    })");
  CHECK(!getEpilogueTiles(turned.get(), 0));
  CHECK(getEpilogueTiles(turned.get(), 1));
  Parsed twice(R"(
    func.func private @k(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {exec.kernel} {
      %0 = weft.transpose %x [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
      %1 = weft.add %0, %x : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    })");
  CHECK(!getEpilogueTiles(twice.get(), 0));
  Parsed sums(R"(
    func.func private @k(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {exec.kernel} {
      %0 = weft.reduce sum %x dims [1] : tensor<8x8xf32> -> tensor<8xf32>
      %1 = weft.broadcast %0 dims [0] : tensor<8xf32> to tensor<8x8xf32>
      %2 = weft.add %1, %x : tensor<8x8xf32>
      return %2 : tensor<8x8xf32>
    })");
  CHECK(!getEpilogueTiles(sums.get(), 0));
  Parsed counts(R"(
    func.func private @k(%at: tensor<i64> {exec.param}, %x: tensor<8x8xi64>) -> tensor<8x8xi64> attributes {exec.kernel} {
      %0 = weft.broadcast %at dims [] : tensor<i64> to tensor<8x8xi64>
      %1 = weft.add %0, %x : tensor<8x8xi64>
      return %1 : tensor<8x8xi64>
    })");
  CHECK(getEpilogueTiles(counts.get(), 1));
}
