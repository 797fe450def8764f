// Parts that are alike are searched once.
#include "compiler/Search/PartAnswers.h"

#include "compiler/Search/MakeProblem.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "test/unit/Search/BruteForce.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;

namespace {
/// A product with a weight of this name, on devices of their own.
struct Layer {
  Layer(MLIRContext &context, const char *mesh, const char *weight, int64_t width) {
    module = parseSourceString<ModuleOp>(llvm::formatv(R"(
          dist.mesh @{0} <["data"=2, "model"=2]>
          weft.weight @{1} : tensor<64x{2}xf32> = #weft.external<"absent.bin", 0, {3}>
          func.func @main(%x: tensor<128x64xf32>) -> tensor<128x{2}xf32> {{
            %w = weft.load @{1} : tensor<64x{2}xf32>
            %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
                : (tensor<128x64xf32>, tensor<64x{2}xf32>) -> tensor<128x{2}xf32>
            %1 = weft.exp %0 : tensor<128x{2}xf32>
            return %1 : tensor<128x{2}xf32>
          }
        )",
                                                       mesh, weight, width, 4 * 64 * width)
                                             .str(),
                                         &context);
    REQUIRE(module);
    planned = PlannedModule::get(*module);
    REQUIRE(planned);
  }

  const PlannedPart &part() const { return planned->parts.front(); }

  OwningOpRef<ModuleOp> module;
  std::optional<PlannedModule> planned;
};

struct Fixture {
  Fixture() { context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>(); }

  MLIRContext context;
  ClusterModel cluster = getCluster("dgx-h100:1");
};
} // namespace

TEST_CASE_METHOD(Fixture, "layers of other names ask the same, those of other sizes do not") {
  Layer one(context, "first", "a", 256), same(context, "second", "b", 256),
      wider(context, "third", "c", 512);
  ShardingProblem problem = makeProblem(one.part());
  CHECK(isSameProblem(problem, makeProblem(same.part())));
  CHECK_FALSE(isSameProblem(problem, makeProblem(wider.part())));
  ShardingProblem pinned = makeProblem(same.part());
  pinned.pinned.front() = TensorSharding::replicated(2);
  CHECK_FALSE(isSameProblem(problem, pinned));
}

TEST_CASE_METHOD(Fixture, "an answer is taken for a part like it, also when the first is gone") {
  PartAnswers answers;
  std::optional<Layer> one;
  one.emplace(context, "first", "a", 256);
  SearchOptions options;
  options.memoryLimit = 1 << 20;
  ShardingAnswer first = answers.get(one->part(), cluster, options);
  REQUIRE(first.splits.size() == 3);
  one.reset();
  Layer same(context, "second", "b", 256);
  PartAnswers others(answers);
  CHECK(others.get(same.part(), cluster, options).splits == first.splits);
  CHECK(others.countSearched() == 1);

  SECTION("that may hold less, where it holds no more") {
    options.memoryLimit = first.memory;
    CHECK(others.get(same.part(), cluster, options).memory == first.memory);
    CHECK(others.countSearched() == 1);
    options.memoryLimit = first.memory - 1;
    others.get(same.part(), cluster, options);
    CHECK(others.countSearched() == 2);
  }
  SECTION("but not for one that may hold more: there may be a better one") {
    options.memoryLimit = 0;
    others.get(same.part(), cluster, options);
    CHECK(others.countSearched() == 2);
  }
  SECTION("nor for one with fewer microbatches under way") {
    options.waiting = {3, 0};
    CHECK(others.get(same.part(), cluster, options).splits == first.splits);
    CHECK(others.countSearched() == 1);
    options.waiting = {0.5, 0};
    others.get(same.part(), cluster, options);
    CHECK(others.countSearched() == 2);
  }
  SECTION("nor of another size; what is found goes back to the others") {
    Layer wider(context, "third", "c", 512);
    others.get(wider.part(), cluster, options);
    CHECK(answers.countSearched() == 1);
    answers.merge(others);
    CHECK(answers.countSearched() == 2);
  }
}
