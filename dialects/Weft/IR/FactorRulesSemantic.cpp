// Factor rules of WeftSemantic.td, one case an operation, alphabetical.

#include "dialects/Weft/IR/RuleBuilder.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

namespace {
/// Where attention's operands and results stand in the rule, absent ones -1.
struct AttentionPlaces {
  explicit AttentionPlaces(AttentionOp op) {
    int next = 3;
    mask = op.getMask() ? next++ : -1;
    bias = op.getBias() ? next++ : -1;
    lse = op.getLse() ? 1 : -1;
  }

  /// Places the open factor in dimension `dim` of [b, h, s, t] wherever scores are masked or
  /// biased.
  void scores(RuleBuilder &rule, unsigned dim) const {
    for (int operand : {mask, bias})
      if (operand >= 0)
        rule.in(operand, dim);
  }

  int mask, bias, lse;
};
} // namespace

/// Heads: h = g·r. A mask or bias that has heads is split like the query's.
static void addHeads(RuleBuilder &rule, const AttentionPlaces &places, int64_t groups,
                     int64_t repeats) {
  auto place = [&](bool onKeys) {
    rule.in(0, 1);
    if (onKeys)
      rule.in(1, 1).in(2, 1);
    places.scores(rule, 1);
    rule.out(1);
    if (places.lse >= 0)
      rule.out(1, places.lse);
  };
  if (groups != 1 || repeats == 1) {
    rule.parallel(repeats == 1 ? "h" : "g", groups);
    place(/*onKeys=*/true);
  }
  if (repeats != 1) {
    rule.parallel(groups == 1 ? "h" : "r", repeats);
    place(/*onKeys=*/false);
  }
}

/// Positions of queries and keys, where no query sees a key behind its own position. A row without
/// any may be told to look at all of them.
template <typename Op>
static std::optional<CausalFactors> getCausalFactors(Op op, unsigned query, unsigned key) {
  bool seesAll = op.getMaskedRows() == MaskedRows::Uniform && (op.getMask() || op.getBias());
  bool isCausal = op.getCausal() && op.getQueryOffset() == 0 && !seesAll &&
                  shapeOf(op.getQuery())[2] == shapeOf(op.getKey())[2];
  return isCausal ? std::optional(CausalFactors{query, key}) : std::nullopt;
}

/// A slice of the queries begins where its sequence has it.
template <typename Op>
static SmallVector<Value> buildLocalAttention(Op op, OpBuilder &builder, ValueRange operands,
                                              TypeRange resultTypes, LocalShards &shards) {
  SmallVector<Value> results = cloneWithTypes(builder, op, operands, resultTypes);
  if (std::optional<CausalFactors> causal = op.getFactorRule().causal)
    if (std::optional<int64_t> start = shards.getStart(causal->query))
      cast<Op>(results.front().getDefiningOp()).setQueryOffset(*start);
  return results;
}

/// ([b, (g r), s, d], [b, g, t, d], [b, g, t, e]) -> ([b, (g r), s, e]). Query positions are
/// independent unless the visible keys depend on the position; key positions would need a joint
/// softmax.
FactorRule AttentionOp::getFactorRule() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey()), v = shapeOf(getValue());
  AttentionPlaces places(*this);
  RuleBuilder rule(*this);
  rule.parallel("b", q[0]).in(0, 0).in(1, 0).in(2, 0).out(0);
  places.scores(rule, 0);
  if (places.lse >= 0)
    rule.out(0, places.lse);
  addHeads(rule, places, k[1], q[1] / k[1]);
  rule.parallelIf(!getCausal() && !getWindow(), "s", q[2]).in(0, 2).out(2);
  unsigned query = rule.getFactor();
  places.scores(rule, 2);
  if (places.lse >= 0)
    rule.out(2, places.lse);
  rule.replicated("d", q[3]).in(0, 3).in(1, 3);
  rule.replicated("t", k[2]).in(1, 2).in(2, 2);
  rule.causal(getCausalFactors(*this, query, rule.getFactor()));
  places.scores(rule, 3);
  rule.parallel("e", v[3]).in(2, 3).out(3);
  return rule.take();
}

SmallVector<Value> AttentionOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                           TypeRange resultTypes, LocalShards &shards) {
  return buildLocalAttention(*this, builder, operands, resultTypes, shards);
}

/// Batch and key heads are independent; the gradients of keys and values sum over all else.
FactorRule AttentionBackwardOp::getFactorRule() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey()), v = shapeOf(getValue());
  RuleBuilder rule(*this);
  SmallVector<unsigned, 2> ofScores;
  unsigned next = 3;
  for (Value scores : {Value(getMask()), Value(getBias())})
    if (scores)
      ofScores.push_back(next++);
  unsigned result = next, lse = next + 1, gradient = next + 2;
  // Dimension `dim` of everything that has it.
  auto place = [&](unsigned dim, bool onQueries, bool onKeys) {
    if (onQueries) {
      rule.in(0, dim).in(result, dim).in(lse, dim).in(gradient, dim).out(dim, 0);
      for (unsigned operand : ofScores)
        rule.in(operand, dim);
    }
    if (onKeys)
      rule.in(1, dim).in(2, dim).out(dim, 1).out(dim, 2);
  };
  rule.parallel("b", q[0]);
  place(0, true, true);
  int64_t repeats = q[1] / k[1];
  rule.parallel(repeats == 1 ? "h" : "g", k[1]);
  place(1, true, true);
  if (repeats != 1) {
    rule.replicated("r", repeats);
    place(1, true, false);
  }
  rule.replicated("s", q[2]);
  unsigned query = rule.getFactor();
  place(2, true, false);
  rule.replicated("t", k[2]);
  rule.causal(getCausalFactors(*this, query, rule.getFactor()));
  rule.in(1, 2).in(2, 2).out(2, 1).out(2, 2);
  for (unsigned operand : ofScores)
    rule.in(operand, 3);
  rule.replicated("d", q[3]).in(0, 3).in(1, 3).out(3, 0).out(3, 1);
  rule.replicated("e", v[3]).in(2, 3).in(result, 3).in(gradient, 3).out(3, 2);
  return rule.take();
}

SmallVector<Value> AttentionBackwardOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                                   TypeRange resultTypes, LocalShards &shards) {
  return buildLocalAttention(*this, builder, operands, resultTypes, shards);
}

/// A split group factor leaves fewer groups on each shard.
template <typename Op>
static SmallVector<Value> buildLocalConv(Op op, OpBuilder &builder, ValueRange operands,
                                         TypeRange resultTypes, LocalShards &shards) {
  SmallVector<Value> results = cloneWithTypes(builder, op, operands, resultTypes);
  constexpr unsigned groupFactor = 1; // getFactorRule adds it second
  if (op.getGroups() != 1)
    results.front().getDefiningOp<Op>().setGroups(shards.localSize(groupFactor));
  return results;
}

/// ([n, (g c), …], [(g o), c, …]) -> ([n, (g o), …]). Space is not split: windows would need their
/// neighbours' borders.
FactorRule ConvOp::getFactorRule() {
  ArrayRef<int64_t> input = shapeOf(getInput()), kernel = shapeOf(getKernel());
  int64_t groups = getGroups();
  RuleBuilder rule(*this);
  rule.parallel("n", input[0]).in(0, 0).out(0);
  if (groups != 1)
    rule.parallel("g", groups).in(0, 1).in(1, 0).out(1);
  if (kernel[1] != 1 || groups == 1)
    rule.reduction("c", kernel[1]).in(0, 1).in(1, 1);
  if (kernel[0] != groups || groups == 1)
    rule.parallel("o", kernel[0] / groups).in(1, 0).out(1);
  for (unsigned dim = 2; dim < input.size(); ++dim) {
    rule.replicated("x", input[dim]).in(0, dim);
    rule.replicated("w", kernel[dim]).in(1, dim);
    rule.replicated("y", shapeOf(getResult())[dim]).out(dim);
  }
  return rule.take(SumLinearity::Each);
}

/// ([n, (g c), …], [n, (g o), …]) -> ([(g o), c, …]), a sum over the batch.
FactorRule ConvKernelGradientOp::getFactorRule() {
  ArrayRef<int64_t> input = shapeOf(getInput()), kernel = shapeOf(getResult());
  int64_t groups = getGroups();
  RuleBuilder rule(*this);
  rule.reduction("n", input[0]).in(0, 0).in(1, 0);
  if (groups != 1)
    rule.parallel("g", groups).in(0, 1).in(1, 1).out(0);
  if (kernel[1] != 1 || groups == 1)
    rule.parallel("c", kernel[1]).in(0, 1).out(1);
  if (kernel[0] != groups || groups == 1)
    rule.parallel("o", kernel[0] / groups).in(1, 1).out(0);
  for (unsigned dim = 2; dim < input.size(); ++dim) {
    rule.replicated("x", input[dim]).in(0, dim);
    rule.replicated("y", shapeOf(getGradient())[dim]).in(1, dim);
    rule.replicated("w", kernel[dim]).out(dim);
  }
  return rule.take(SumLinearity::Each);
}

SmallVector<Value> ConvKernelGradientOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                                    TypeRange resultTypes, LocalShards &shards) {
  return buildLocalConv(*this, builder, operands, resultTypes, shards);
}

SmallVector<Value> ConvOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes, LocalShards &shards) {
  return buildLocalConv(*this, builder, operands, resultTypes, shards);
}

/// ([b, m, k], [b, k, n]) -> ([b, m, n]); the free dimensions of a left operand [b, s, k] without
/// batch dimensions keep these customary names.
FactorRule DotGeneralOp::getFactorRule() {
  auto positionIn = [](ArrayRef<int64_t> dims, int64_t dim) -> int64_t {
    return llvm::is_contained(dims, dim) ? llvm::find(dims, dim) - dims.begin() : -1;
  };
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  int64_t batches = getLhsBatch().size(), free = lhs.size() - batches - getLhsContract().size();
  bool customary = batches == 0 && free == 2;
  RuleBuilder rule(*this);
  int64_t next = batches;
  for (int64_t dim = 0; dim < static_cast<int64_t>(lhs.size()); ++dim) {
    if (int64_t at = positionIn(getLhsBatch(), dim); at >= 0)
      rule.parallel("b", lhs[dim]).in(0, dim).in(1, getRhsBatch()[at]).out(at);
    else if (int64_t at = positionIn(getLhsContract(), dim); at >= 0)
      rule.reduction("k", lhs[dim]).in(0, dim).in(1, getRhsContract()[at]);
    else
      rule.parallel(!customary        ? "m"
                    : next == batches ? "b"
                                      : "s",
                    lhs[dim])
          .in(0, dim)
          .out(next++);
  }
  for (int64_t dim = 0; dim < static_cast<int64_t>(rhs.size()); ++dim)
    if (positionIn(getRhsBatch(), dim) < 0 && positionIn(getRhsContract(), dim) < 0)
      rule.parallel("n", rhs[dim]).in(1, dim).out(next++);
  return rule.take(SumLinearity::Each);
}

/// Leading dimensions are independent; the normalised ones, shared with scale and bias, stay whole.
static FactorRule normRule(Operation *op, unsigned axis) {
  RuleBuilder rule(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0)))) {
    rule.parallelIf(dim < axis, dim < axis ? "d" : "n", size).in(0, dim).out(dim);
    if (dim >= axis)
      for (unsigned operand = 1; operand < op->getNumOperands(); ++operand)
        rule.in(operand, dim - axis);
  }
  return rule.take();
}

FactorRule LayerNormOp::getFactorRule() { return normRule(*this, getAxis()); }

/// Elementwise, but that scalars have no dimensions.
FactorRule MapOp::getFactorRule() {
  FactorRule rule = FactorRule::elementwise(*this, SumLinearity::None);
  for (auto [operand, value] : llvm::zip_equal(rule.operands, getInputs()))
    operand.resize(rankOf(value));
  return rule;
}

FactorRule RmsNormOp::getFactorRule() { return normRule(*this, getAxis()); }

/// ([b, h, s, d], [b, s, r], [b, s, r]) -> ([b, h, s, d]): pairs lie across the last dimension,
/// which stays whole.
FactorRule RotaryOp::getFactorRule() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  RuleBuilder rule(*this);
  rule.parallel("b", input[0]).in(0, 0).in(1, 0).in(2, 0).out(0);
  rule.parallel("h", input[1]).in(0, 1).out(1);
  rule.parallel("s", input[2]).in(0, 2).in(1, 1).in(2, 1).out(2);
  rule.replicated("d", input[3]).in(0, 3).out(3);
  rule.replicated("r", shapeOf(getCos())[2]).in(1, 2).in(2, 2);
  return rule.take();
}

FactorRule SoftmaxOp::getFactorRule() {
  RuleBuilder rule(*this);
  for (auto [dim, size] : llvm::enumerate(shapeOf(getInput())))
    rule.parallelIf(dim != getAxis(), "d", size).in(0, dim).out(dim);
  return rule.take();
}
