#include "compiler/Sharding/OperationSplit.h"

#include "dialects/Dist/IR/Sharding.h"
#include "test/unit/Sharding/Network.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;
using Catch::Matchers::Contains;

namespace {
/// ([b, (h d)], [k]) -> ([b, h, d]) with b, h, d, a maximum over m and a sum over n in the second.
FactorRule makeRule(SumLinearity linearity = SumLinearity::Each) {
  FactorRule rule;
  unsigned b = rule.add("b", 8), h = rule.add("h", 5), d = rule.add("d", 4),
           k = rule.add("k", 16, FactorKind::Reduction),
           m = rule.add("m", 16, FactorKind::Reduction, ReduceKind::Max),
           r = rule.add("r", 16, FactorKind::Replicated);
  rule.operands = {{{b}, {h, d}}, {{k}, {m}, {r}}};
  rule.results = {{{b}, {h}, {d}}};
  rule.linearity = linearity;
  return rule;
}
enum { b, h, d, k, m, r };

OperationSplit splitBy(const FactorRule &rule, unsigned factor, AxisList axes) {
  OperationSplit split = OperationSplit::whole(rule);
  split.axes[factor] = std::move(axes);
  return split;
}

OperationSplit carrying(const FactorRule &rule, AxisList axes, llvm::ArrayRef<unsigned> operands) {
  OperationSplit split = OperationSplit::whole(rule);
  split.sums.axes = std::move(axes);
  for (unsigned operand : operands)
    split.sums.operands[operand] = true;
  return split;
}

/// An operation of two operands, with `attribute` as its split.
struct Fixture {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  Fixture() { context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>(); }

  Operation &parse() {
    module = parseSourceString<ModuleOp>(R"(
      func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x5xf32>) -> tensor<8x5xf32> {
        %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0]
          : (tensor<8x16xf32>, tensor<16x5xf32>) -> tensor<8x5xf32>
        return %0 : tensor<8x5xf32>
      })",
                                         &context);
    REQUIRE(module);
    return module->lookupSymbol<func::FuncOp>("main").getBody().front().front();
  }
  /// What is wrong with an attribute.
  std::string problemOf(DictionaryAttr attribute) {
    Operation &op = parse();
    op.setAttr(dist::kSplitAttr, attribute);
    std::string text;
    ScopedDiagnosticHandler handler(&context,
                                    [&](Diagnostic &diagnostic) { text += diagnostic.str(); });
    CHECK(failed(getSplit(op, cast<FactorRuleOpInterface>(op).getFactorRule(), mesh)));
    return text;
  }
};
} // namespace

TEST_CASE("operands' and results' forms follow from a split") {
  FactorRule rule = makeRule();
  OperationSplit split = splitBy(rule, h, {model});
  split.axes[b] = {data};
  TensorSharding form = getOperandForm(rule, 0, split);
  CHECK(form.dims[0] == AxisList{data});
  CHECK(llvm::ArrayRef<AxisRef>(form.dims[1]) == llvm::ArrayRef<AxisRef>{model});
  CHECK(form.dims[1].unit == 4); // 5 heads of 4 over 4 devices
  CHECK(getResultForm(rule, 0, split).dims == Dims{{data}, {model}, {}});
  TensorSharding sum = getResultForm(rule, 0, splitBy(rule, k, {model}));
  CHECK(sum.partial == AxisList{model});
  CHECK(sum.reduction == ReduceKind::Sum);
  CHECK(getResultForm(rule, 0, splitBy(rule, m, {model})).reduction == ReduceKind::Max);
}

TEST_CASE("sums that wait are handed on, in one order of axes") {
  FactorRule rule = makeRule();
  OperationSplit split = carrying(rule, {model}, {1});
  split.axes[k] = {data};
  CHECK(check(rule, split, mesh).empty());
  CHECK(getOperandForm(rule, 0, split).partial.empty());
  CHECK(getOperandForm(rule, 1, split).partial == AxisList{model});
  CHECK(getResultForm(rule, 0, split).partial == AxisList{data, model});
}

TEST_CASE("what no split can be is said") {
  FactorRule rule = makeRule();
  auto problem = [&](const OperationSplit &split) { return check(rule, split, mesh); };
  CHECK(problem(OperationSplit::whole(rule)).empty());
  OperationSplit twice = splitBy(rule, b, {model});
  twice.axes[h] = {majorHalf};
  CHECK(problem(twice) == "expected each axis at one place, got twice: {\"model\":(1)2}");
  OperationSplit summed = carrying(rule, {model}, {0});
  summed.axes[b] = {model};
  CHECK_THAT(problem(summed), Contains("each axis at one place"));
  CHECK(problem(splitBy(rule, r, {model})) == "expected factor 'r' to be whole, got: {\"model\"}");
  CHECK_THAT(problem(splitBy(rule, d, {model})), Contains("major factors"));
  CHECK_THAT(problem(carrying(rule, {model}, {})), Contains("together"));
  CHECK_THAT(problem(carrying(rule, {}, {0})), Contains("together"));
  CHECK_THAT(problem(carrying(rule, {model}, {0, 1})), Contains("linear in"));
  OperationSplit mixed = splitBy(rule, k, {model});
  mixed.axes[m] = {data};
  CHECK_THAT(problem(mixed), Contains("one kind"));
  OperationSplit most = carrying(rule, {model}, {0});
  most.axes[m] = {data};
  CHECK_THAT(problem(most), Contains("one kind"));
}

TEST_CASE("operands carry sums as the operation is linear in them") {
  auto carries = [](SumLinearity linearity, llvm::ArrayRef<unsigned> operands) {
    FactorRule rule = makeRule(linearity);
    return check(rule, carrying(rule, {model}, operands), mesh).empty();
  };
  CHECK_FALSE(carries(SumLinearity::None, {0}));
  CHECK(carries(SumLinearity::Joint, {0, 1}));
  CHECK_FALSE(carries(SumLinearity::Joint, {0}));
  CHECK(carries(SumLinearity::First, {0}));
  CHECK_FALSE(carries(SumLinearity::First, {1}));
}

TEST_CASE("units of padded blocks divide what they split") {
  FactorRule rule = makeRule();
  AxisList units{model};
  units.unit = 3;
  CHECK_THAT(check(rule, splitBy(rule, b, units), mesh), Contains("unit 3"));
  units.unit = 0;
  CHECK_THAT(check(rule, splitBy(rule, b, units), mesh), Contains("unit 0"));
  units.unit = 2;
  CHECK(check(rule, splitBy(rule, h, {model}), mesh).empty());
}

TEST_CASE_METHOD(Fixture, "the attribute says all of a split") {
  Operation &op = parse();
  FactorRule rule = cast<FactorRuleOpInterface>(op).getFactorRule();
  auto readBack = [&](const OperationSplit &split) {
    op.setAttr(dist::kSplitAttr, toAttr(&context, rule, split, mesh));
    FailureOr<std::optional<OperationSplit>> read = getSplit(op, rule, mesh);
    return succeeded(read) && *read == split;
  };
  CHECK(readBack(OperationSplit::whole(rule)));
  OperationSplit split = OperationSplit::whole(rule);
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, split.axes))
    if (factor.size == 5) {
      axes = {majorHalf};
      axes.unit = 1;
    }
  split.sums.axes = {data, minorHalf};
  split.sums.operands[1] = true;
  CHECK(readBack(split));
  op.removeAttr(dist::kSplitAttr);
  FailureOr<std::optional<OperationSplit>> none = getSplit(op, rule, mesh);
  REQUIRE(succeeded(none));
  CHECK_FALSE(none->has_value());
}

TEST_CASE_METHOD(Fixture, "the attribute keeps units of padded blocks") {
  FactorRule rule;
  unsigned joined = rule.add("j", 20);
  rule.operands = {{{joined}}};
  rule.results = {{{joined}}};
  OperationSplit split = OperationSplit::whole(rule);
  split.axes[0] = {AxisRef{1, 1, 4}};
  split.axes[0].unit = 4;
  Operation &op = parse();
  op.setAttr(dist::kSplitAttr, toAttr(&context, rule, split, mesh));
  FailureOr<std::optional<OperationSplit>> read = getSplit(op, rule, mesh);
  REQUIRE(succeeded(read));
  CHECK(**read == split);
}

TEST_CASE_METHOD(Fixture, "attributes that are no splits are refused where they stand") {
  auto axes = [&](llvm::StringRef name) {
    return dist::DimShardingAttr::get(&context, {dist::AxisRefAttr::get(&context, name, 0, 0)}, 1);
  };
  auto attribute = [&](llvm::StringRef name, Attribute value) {
    NamedAttrList entries;
    entries.set(name, value);
    return entries.getDictionary(&context);
  };
  CHECK_THAT(problemOf(attribute("q", axes("model"))),
             Contains("expected a factor of") && Contains("\"q\" ="));
  CHECK_THAT(problemOf(attribute("n", axes("modle"))), Contains("axes of @mesh"));
  CHECK_THAT(problemOf(attribute("carries", axes("model"))), Contains("carries"));
  CHECK_THAT(problemOf(attribute("carries", DenseI64ArrayAttr::get(&context, {0}))),
             Contains("together"));
  CHECK_THAT(problemOf(attribute("carries", DenseI64ArrayAttr::get(&context, {7}))),
             Contains("operand 7"));
}
