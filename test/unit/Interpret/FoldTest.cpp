// Constant folding: splats stay splats, hostile values fail or saturate, large results become
// resources.
#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {
struct Fixture {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  Fixture() { context.loadDialect<func::FuncDialect, WeftDialect>(); }

  /// Folds the last operation before the return of a function body.
  FailureOr<SmallVector<Tensor>> fold(const std::string &body, const std::string &symbols = "") {
    module = parseSourceString<ModuleOp>(symbols + "func.func @main() {\n" + body + "\nreturn\n}",
                                         &context);
    REQUIRE(module);
    auto main = module->lookupSymbol<func::FuncOp>("main");
    return foldConstants(main.front().getTerminator()->getPrevNode());
  }
  std::vector<int64_t> integers(const std::string &body, const std::string &symbols = "") {
    auto results = fold(body, symbols);
    REQUIRE(succeeded(results));
    return numbersOf<int64_t>(results->front());
  }
};
} // namespace

TEST_CASE_METHOD(Fixture, "shape arithmetic folds") {
  CHECK(integers("%0 = weft.constant dense<[2, 3, 4]> : tensor<3xi64>\n"
                 "%1 = weft.slice %0 starts [1] strides [1] : tensor<3xi64> to tensor<2xi64>") ==
        std::vector<int64_t>{3, 4});
}

TEST_CASE_METHOD(Fixture, "a load of a computed constant folds") {
  CHECK(integers("%0 = weft.load @w : tensor<2xi64>\n%1 = weft.neg %0 : tensor<2xi64>",
                 "weft.weight kind(constant) @w : tensor<2xi64> = dense<7> : tensor<2xi64>\n") ==
        std::vector<int64_t>{-7, -7});
}

// Of the Random123 project's known answers, threefry2x32 with 20 rounds; halves are words.
TEST_CASE_METHOD(Fixture, "random bits are Threefry's") {
  CHECK(integers("%0 = weft.constant dense<[0, 18446744073709551615, 9629550131187509896]> : "
                 "tensor<3xui64>\n"
                 "%1 = weft.constant dense<[0, 18446744073709551615, 247824715720788526]> : "
                 "tensor<3xui64>\n"
                 "%2 = weft.random_bits %0, %1 : tensor<3xui64>") ==
        std::vector<int64_t>{int64_t(0x99ba4efe6b200159), int64_t(0xbb002be71cb996fc),
                             int64_t(0x483df7a0c4923a9c)});
}

TEST_CASE_METHOD(Fixture, "splats of any size stay splats") {
  auto results = fold("%0 = weft.constant dense<1.0> : tensor<f32>\n"
                      "%1 = weft.broadcast %0 dims [] : tensor<f32> to tensor<100000x100000xf32>\n"
                      "%2 = weft.exp %1 : tensor<100000x100000xf32>");
  CHECK(failed(results)); // %1 is no constant yet
  results = fold("%0 = weft.constant dense<1.0> : tensor<100000x100000xf32>\n"
                 "%1 = weft.exp %0 : tensor<100000x100000xf32>");
  REQUIRE(succeeded(results));
  CHECK(results->front().isSplat());
  CHECK(results->front().raw().size() == 4);
}

TEST_CASE_METHOD(Fixture,
                 "integers divided by zero have all bits set, and themselves as remainder") {
  std::string operands = "%0 = weft.constant dense<[5, -6]> : tensor<2xi32>\n"
                         "%1 = weft.constant dense<0> : tensor<2xi32>\n";
  CHECK(integers(operands + "%2 = weft.div %0, %1 : tensor<2xi32>") ==
        std::vector<int64_t>{-1, -1});
  CHECK(integers(operands + "%2 = weft.rem %0, %1 : tensor<2xi32>") == std::vector<int64_t>{5, -6});
}

TEST_CASE_METHOD(Fixture, "the least integer divided by -1 wraps around") {
  CHECK(integers("%0 = weft.constant dense<-9223372036854775808> : tensor<1xi64>\n"
                 "%1 = weft.constant dense<-1> : tensor<1xi64>\n"
                 "%2 = weft.div %0, %1 : tensor<1xi64>") == std::vector<int64_t>{INT64_MIN});
}

TEST_CASE_METHOD(Fixture, "floats that no integer holds saturate") {
  CHECK(integers("%0 = weft.constant dense<[1.0e30, -1.0e30, 0x7FC00000, -2.9]> : tensor<4xf32>\n"
                 "%1 = weft.cast %0 : tensor<4xf32> to tensor<4xi32>") ==
        std::vector<int64_t>{INT32_MAX, INT32_MIN, 0, -2});
}

TEST_CASE_METHOD(Fixture, "a large mask becomes a resource of one byte an element") {
  auto results = fold("%0 = weft.constant dense<[[true, false]]> : tensor<1x2xi1>\n"
                      "%1 = weft.broadcast %0 dims [0, 1] : tensor<1x2xi1> to tensor<1024x2xi1>");
  REQUIRE(succeeded(results));
  auto resource = dyn_cast<DenseResourceElementsAttr>(toConstant(results->front(), "mask"));
  REQUIRE(resource);
  CHECK(resource.getRawHandle().getBlob()->getData().size() == 2048);
  auto again = Tensor::fromElements(resource);
  REQUIRE(bool(again));
  CHECK(again->raw() == results->front().raw());
}
