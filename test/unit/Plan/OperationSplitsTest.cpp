#include "compiler/Plan/OperationSplits.h"

#include "compiler/Plan/PlanText.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "dialects/Dist/IR/Sharding.h"

#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;
using Catch::Matchers::Contains;

namespace {
/// Two products of one kind, `h0` and `h1`, on {model=4}.
struct Fixture {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<Operation *> products;

  Fixture() {
    context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>();
    module = parseSourceString<ModuleOp>(R"(
      dist.mesh @mesh <["model"=4]>
      func.func @main(%x: tensor<8x16xf32> {weft.name = "x"}, %w: tensor<16x16xf32> {weft.name = "w"}) -> tensor<8x16xf32> {
        %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
          : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("h0")
        %1 = weft.dot_general %0, %w batch [] x [] contract [1] x [0]
          : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32> loc("h1")
        return %1 : tensor<8x16xf32>
      })",
                                         &context);
    REQUIRE(module);
    for (Operation &op : main().getBody().front().without_terminator())
      products.push_back(&op);
  }

  func::FuncOp main() { return module->lookupSymbol<func::FuncOp>("main"); }
  MeshShape mesh() { return getMeshShape(*module->getOps<dist::MeshOp>().begin()); }
  FactorRule rule() { return cast<FactorRuleOpInterface>(products.front()).getFactorRule(); }

  /// A plan without splits.
  plan::Plan makePlan() {
    plan::Plan plan;
    plan.set_version(planVersion);
    *plan.add_meshes() = toPlan(mesh());
    return plan;
  }
  /// What is wrong with a plan's splits: as it is read, else as it is applied.
  std::string problemOf(const std::string &splits) {
    std::string problem;
    std::optional<plan::Plan> plan = parsePlan(printPlan(makePlan()) + splits, "p.txtpb", problem);
    if (!plan)
      return problem;
    ScopedDiagnosticHandler handler(&context,
                                    [&](Diagnostic &diagnostic) { problem += diagnostic.str(); });
    FunctionNames names;
    CHECK(applySplits(*module, *plan, names) == PlanStatus::Infeasible);
    return problem;
  }
};
} // namespace

TEST_CASE_METHOD(Fixture, "operations of one split stand together, and are split so again") {
  FactorRule own = rule();
  OperationSplit columns = OperationSplit::whole(own), summed = columns;
  for (auto [factor, axes] : llvm::zip_equal(own.factors, columns.axes))
    if (factor.name == "n")
      axes = {AxisRef{0, 1, 2}};
  summed.sums.axes = {fullAxis(mesh(), 0)};
  summed.sums.operands[0] = true;
  for (const OperationSplit &last : {columns, summed}) {
    plan::Plan plan = makePlan();
    FunctionNames names;
    MeshShape shape = mesh();
    SplitWriter writer(names.of(main()), shape, plan);
    writer.add(*products[0], own, columns);
    writer.add(*products[1], own, last);
    CHECK(plan.splits_size() == (last == columns ? 1 : 2));
    std::string problem;
    std::optional<plan::Plan> read = parsePlan(printPlan(plan), "p.txtpb", problem);
    INFO(problem);
    REQUIRE(read);
    REQUIRE(applySplits(*module, *read, names) == PlanStatus::Applied);
    for (auto [op, split] : {std::pair(products[0], columns), {products[1], last}}) {
      FailureOr<std::optional<OperationSplit>> applied = getSplit(*op, own, shape);
      REQUIRE(succeeded(applied));
      CHECK(*applied == split);
    }
  }
}

TEST_CASE_METHOD(Fixture, "splits that do not fit are refused by what is wrong with them") {
  auto split = [](const std::string &name, const std::string &rest) {
    return "splits { operations: \"" + name + "\" mesh: \"mesh\" " + rest + " }\n";
  };
  const std::string model = "axes { name: \"model\" }";
  CHECK_THAT(problemOf(split("h2", "factors { name: \"n\" " + model + " }")),
             Contains("no operation 'h2' to split") && Contains("did you mean 'h"));
  CHECK_THAT(problemOf(split("x", "")), Contains("no operation 'x' to split"));
  CHECK_THAT(problemOf(split("h0", "factors { name: \"q\" " + model + " }")),
             Contains("cannot split 'h0'") && Contains("got: q"));
  CHECK_THAT(problemOf(split("h0", "factors { name: \"n\" axes { name: \"modle\" } }")),
             Contains("split of 'h0'") && Contains("did you mean 'model'"));
  CHECK_THAT(
      problemOf(split("h0", "factors { name: \"n\" " + model + " } sum { name: \"model\" }")),
      Contains("axis 'model' is used twice"));
  CHECK_THAT(problemOf(split("h0", "factors { name: \"n\" " + model + " unit: 5 }")),
             Contains("cannot split 'h0'") && Contains("unit 5"));
  CHECK_THAT(problemOf(split("h0", "sum { name: \"model\" } carries: 3")),
             Contains("operand below 2") && Contains("got: 3"));
  CHECK_THAT(problemOf(split("h0", "sum { name: \"model\" }")), Contains("together"));
  CHECK_THAT(problemOf(split("h0", "") + split("h0", "")), Contains("two splits of 'h0'"));
  CHECK_THAT(problemOf("splits { operations: \"h0\" mesh: \"grid\" }"), Contains("'grid'"));
}
