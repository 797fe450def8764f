#include "compiler/Sharding/FactorSharding.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
const MeshShape mesh{"mesh", {{"x", 2}, {"y", 8}, {"m", 2}}};
const AxisRef x = fullAxis(mesh, 0), y = fullAxis(mesh, 1), m = fullAxis(mesh, 2);

TensorSharding dims(llvm::SmallVector<AxisList, 4> axes) {
  return {std::move(axes), {}, ReduceKind::Sum};
}

/// ([b, (h d)]) -> ([b, h, d]) {b=4, h=8, d=128}
FactorRule splitHeads() {
  FactorRule rule;
  unsigned b = rule.add("b", 4), h = rule.add("h", 8), d = rule.add("d", 128);
  rule.operands = {{{b}, {h, d}}};
  rule.results = {{{b}, {h}, {d}}};
  return rule;
}

/// ([s, k], [k, n]) -> ([s, n]) {s=32, k=64, n=96} reduction={k}
FactorRule matmul() {
  FactorRule rule;
  unsigned s = rule.add("s", 32), k = rule.add("k", 64, FactorKind::Reduction),
           n = rule.add("n", 96);
  rule.operands = {{{s}, {k}}, {{k}, {n}}};
  rule.results = {{{s}, {n}}};
  return rule;
}

/// The factors of a product whose tensors lie so; the right operand is a weight.
FactorAxes resolveMatmul(const TensorSharding &lhs, const TensorSharding &rhs,
                         const TensorSharding &result, bool open = false) {
  FactorRule rule = matmul();
  return resolveFactors(rule, {{&rule.operands[0], &lhs, 32 * 64 * 4, false, false},
                               {&rule.operands[1], &rhs, 64 * 96 * 4, true, open},
                               {&rule.results[0], &result, 32 * 96 * 4, false, open}});
}
} // namespace

TEST_CASE("axes of a compound dimension split its majors first") {
  FactorRule rule = splitHeads();
  auto [axes, exact] = projectToFactors(rule, rule.operands[0], dims({{}, {x, y}}));
  CHECK(exact);
  CHECK(axes[1] == AxisList{x, {1, 1, 4}});
  CHECK(axes[2] == AxisList{{1, 4, 2}});
  auto back = factorsToSharding(rule, rule.operands[0], axes);
  CHECK(back.exact);
  CHECK(back.sharding == dims({{}, {x, y}}));
}

TEST_CASE("a minor factor is split in the compound only behind wholly split majors") {
  FactorRule rule = splitHeads();
  FactorAxes axes{{}, {}, {x}};
  CHECK(factorsToSharding(rule, rule.results[0], axes).sharding == dims({{}, {}, {x}}));
  auto [sharding, exact] = factorsToSharding(rule, rule.operands[0], axes);
  CHECK_FALSE(exact);
  CHECK(sharding.isReplicated());
}

TEST_CASE("axes that do not divide a factor are left out") {
  FactorRule rule;
  unsigned h = rule.add("h", 6), d = rule.add("d", 16);
  rule.operands = {{{h, d}}};
  auto [axes, exact] = projectToFactors(rule, rule.operands[0], dims({{x, y}}));
  CHECK_FALSE(exact);
  CHECK(axes[h] == AxisList{x});
  CHECK(axes[d].empty());
}

/// ([b, (h d)]) -> ([b, h, d]) {b=5, h=7, d=16}
static FactorRule splitSeven() {
  FactorRule rule;
  unsigned b = rule.add("b", 5), h = rule.add("h", 7), d = rule.add("d", 16);
  rule.operands = {{{b}, {h, d}}};
  rule.results = {{{b}, {h}, {d}}};
  return rule;
}

TEST_CASE("a padded factor gives the dimension that it leads its unit") {
  FactorRule rule = splitSeven();
  FactorAxes axes{AxisList{y}, AxisList{x}, {}};
  ToTensor whole = factorsToSharding(rule, rule.operands[0], axes);
  CHECK(whole.exact);
  CHECK(whole.sharding == dims({{y}, inUnits({x}, 112, 16)})); // blocks of 64 and 48
  CHECK(factorsToSharding(rule, rule.results[0], axes).sharding == dims({{y}, {x}, {}}));
  ToFactors back = projectToFactors(rule, rule.operands[0], whole.sharding);
  CHECK(back.exact);
  CHECK(back.axes == axes);
  // Equal halves of the dimension are none of its heads.
  ToFactors halves = projectToFactors(rule, rule.operands[0], dims({{}, {x}}));
  CHECK_FALSE(halves.exact);
  CHECK(halves.axes[1].empty());
}

TEST_CASE("a padded factor behind others cannot be shown") {
  FactorRule rule = splitSeven();
  FactorAxes axes{{}, {}, AxisList{fullAxis({"mesh", {{"z", 3}}}, 0)}};
  ToTensor whole = factorsToSharding(rule, rule.operands[0], axes);
  CHECK_FALSE(whole.exact);
  CHECK(whole.sharding == dims({{}, {}}));
}

TEST_CASE("grouped heads take a sub-axis each") {
  FactorRule rule; // [(g r)] with fewer groups than ranks
  unsigned g = rule.add("g", 2), r = rule.add("r", 4);
  rule.operands = {{{g, r}}, {{g}}};
  auto [axes, exact] = projectToFactors(rule, rule.operands[0], dims({{y}}));
  CHECK(exact);
  CHECK(axes[g] == AxisList{{1, 1, 2}});
  CHECK(axes[r] == AxisList{{1, 2, 4}});
  CHECK(factorsToSharding(rule, rule.operands[1], axes).sharding == dims({{{1, 1, 2}}}));
}

TEST_CASE("a product splits where its weight is split") {
  auto none = dims({{}, {}});
  CHECK(resolveMatmul(none, dims({{}, {m}}), dims({{}, {m}})) == FactorAxes{{}, {}, {m}});
  CHECK(resolveMatmul(dims({{}, {m}}), dims({{m}, {}}), none) == FactorAxes{{}, {m}, {}});
  SECTION("the weight stays in place though its result is wanted whole") {
    CHECK(resolveMatmul(none, dims({{}, {m}}), none) == FactorAxes{{}, {}, {m}});
  }
  SECTION("one axis goes to one factor, the weight's") {
    CHECK(resolveMatmul(dims({{}, {m}}), dims({{}, {m}}), dims({{}, {m}})) ==
          FactorAxes{{}, {}, {m}});
  }
  SECTION("an open weight follows the activation's contracted dimension") {
    CHECK(resolveMatmul(dims({{x}, {m}}), none, none, true) == FactorAxes{{x}, {m}, {}});
  }
  SECTION("a row-split weight keeps its split though the result is split too") {
    CHECK(resolveMatmul(dims({{}, {m}}), dims({{m}, {}}), dims({{}, {m}})) ==
          FactorAxes{{}, {m}, {}});
  }
}

TEST_CASE("a broadcast is computed after its small operand is gathered") {
  FactorRule rule; // ([e]) -> ([b, e])
  unsigned e = rule.add("e", 64), b = rule.add("b", 8);
  rule.operands = {{{e}}};
  rule.results = {{{b}, {e}}};
  auto split = dims({{m}});
  auto none = dims({{}, {}});
  CHECK(resolveFactors(rule, {{&rule.operands[0], &split, 256}, {&rule.results[0], &none, 2048}})[e]
            .empty());
  TensorState open{&rule.results[0], &none, 2048, false, true};
  CHECK(resolveFactors(rule, {{&rule.operands[0], &split, 256}, open})[e] == AxisList{m});
}

TEST_CASE("a split reduction leaves the result partial") {
  FactorRule rule = matmul();
  ReduceKind reduction = ReduceKind::Max;
  CHECK(partialAxes(rule, {{}, {m}, {}}, 0, reduction) == AxisList{m});
  CHECK(reduction == ReduceKind::Sum);
  CHECK(partialAxes(rule, {{m}, {}, {}}, 0, reduction).empty());
}

TEST_CASE("equal costs go to the split that a decided result has") {
  FactorRule rule; // ([a, b]) -> ([a, b])
  unsigned a = rule.add("a", 8), b = rule.add("b", 8);
  rule.operands = {{{a}, {b}}};
  rule.results = {{{a}, {b}}};
  auto rows = dims({{m}, {}}), columns = dims({{}, {m}});
  TensorState operand{&rule.operands[0], &rows, 256}, result{&rule.results[0], &columns, 256};
  CHECK(resolveFactors(rule, {operand, result}) == FactorAxes{{m}, {}});
  result.decided = true;
  CHECK(resolveFactors(rule, {operand, result}) == FactorAxes{{}, {m}});
  SECTION("but not a whole one, since splitting saves work") {
    auto whole = dims({{}, {}});
    result.sharding = &whole;
    CHECK(resolveFactors(rule, {operand, result}) == FactorAxes{{m}, {}});
  }
}

TEST_CASE("a result that is to stay partial splits a reduction") {
  TensorSharding partial{{{}, {}}, {m}, ReduceKind::Sum};
  auto none = dims({{}, {}});
  CHECK(resolveMatmul(none, none, partial) == FactorAxes{{}, {m}, {}});
  SECTION("unless a weight is split by the axes otherwise") {
    CHECK(resolveMatmul(none, dims({{}, {m}}), partial) == FactorAxes{{}, {}, {m}});
  }
  SECTION("of two, the first takes the axes") {
    FactorRule rule; // ([a, b]) -> ([]) reduction={a, b}
    unsigned a = rule.add("a", 8, FactorKind::Reduction),
             b = rule.add("b", 8, FactorKind::Reduction);
    rule.operands = {{{a}, {b}}};
    rule.results = {{}};
    TensorSharding scalar{{}, {m}, ReduceKind::Sum};
    CHECK(resolveFactors(rule, {{&rule.operands[0], &none, 256}, {&rule.results[0], &scalar, 4}}) ==
          FactorAxes{{m}, {}});
  }
}

TEST_CASE("a product that contracts a batch leaves it split, however small it is") {
  // ([b, k], [b, n]) -> ([k, n]): a weight's gradient, which is larger than what it is made of
  FactorRule rule;
  unsigned b = rule.add("b", 4, FactorKind::Reduction), k = rule.add("k", 64),
           n = rule.add("n", 96);
  rule.operands = {{{b}, {k}}, {{b}, {n}}};
  rule.results = {{{k}, {n}}};
  TensorSharding rows = dims({{x}, {}}), whole = dims({{}, {}}), split = dims({{x}, {}});
  auto resolve = [&](const TensorSharding &result, llvm::ArrayRef<AxisRef> batch) {
    TensorState input{&rule.operands[0], &rows, 4 * 64 * 4},
        output{&rule.operands[1], &rows, 4 * 96 * 4};
    input.batch = output.batch = batch;
    return resolveFactors(rule, {input, output, {&rule.results[0], &result, 64 * 96 * 4}});
  };
  CHECK(resolve(whole, {})[b].empty());
  CHECK(resolve(whole, x)[b] == AxisList{x});
  CHECK(resolve(split, {})[k] == AxisList{x});
  FactorAxes kept = resolve(split, x); // the sum is scattered
  CHECK(kept[b] == AxisList{x});
  CHECK(kept[k].empty());
}
