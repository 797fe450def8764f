#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Match.h"
#include "passes/Import/MissedRemarks.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include <charconv>

namespace weft {
#define GEN_PASS_DEF_RAISENORMS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

namespace {
/// The root of what has a mean of squares in it.
struct RootOfSquares {
  Operation *root;
  Value squared;
  ScaledSum mean;
  std::optional<double> epsilon;
  bool isDirect = true; ///< nothing but epsilon stands between mean and root
  MatchedOps matched;
};
} // namespace

/// The scaled sum of squares in a value; null if there is none near.
static Value findMeanOfSquares(Value value, int depth = 4) {
  MatchedOps passed;
  Operation *op = value.getDefiningOp();
  if (auto sum = scaledSumOf(value, passed)) {
    auto square = sum->sum.getInput().getDefiningOp<MulOp>();
    return square && square.getLhs() == square.getRhs() ? value : Value();
  }
  if (depth > 0 && isa_and_nonnull<AddOp, CastOp, MaxOp, SubOp>(op))
    for (Value operand : op->getOperands())
      if (Value found = findMeanOfSquares(operand, depth - 1))
        return found;
  return {};
}

/// The root that `repeated` repeats, if it has a mean of squares in it.
static std::optional<RootOfSquares> rootOfSquares(Value repeated, bool reciprocal) {
  Operation *root = repeated.getDefiningOp();
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(root))
    root = root->getOperand(0).getDefiningOp();
  if (!(reciprocal ? isa_and_nonnull<RsqrtOp>(root) : isa_and_nonnull<SqrtOp>(root)))
    return std::nullopt;
  Value mean = findMeanOfSquares(root->getOperand(0));
  if (!mean)
    return std::nullopt;
  MatchedOps matched;
  ScaledSum sum = *scaledSumOf(mean, matched);
  auto square = sum.sum.getInput().getDefiningOp<MulOp>();
  RootOfSquares found{root, square.getLhs(), sum, std::nullopt, true, matched};
  auto add = root->getOperand(0).getDefiningOp<AddOp>();
  for (unsigned number = 0; add && number < 2; ++number)
    if (add->getOperand(1 - number) == mean)
      found.epsilon = splatNumber(add->getOperand(number));
  found.isDirect = found.epsilon || root->getOperand(0) == mean;
  found.matched.insert(root);
  found.matched.insert(square);
  if (found.epsilon)
    found.matched.insert(add);
  return found;
}

/// The value before conversions, views and centring.
static Value sourceOf(Value value) {
  while (isa_and_nonnull<CastOp, ReshapeOp, SubOp, TransposeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Why `x`, scaled by the root of a mean of its squares, is no norm; "" if it is one.
static std::string whyNoNorm(Operation *op, Value x, Value repeated, RootOfSquares &root) {
  if (!root.isDirect)
    return "the root is that of " + describe(root.root->getOperand(0)) +
           ", not of a mean of squares and a number";
  if (root.squared != x)
    return describe(root.squared) + " is squared, but " + describe(x) + " is scaled";
  if (std::string why = whyNoMean(root.mean); !why.empty())
    return why;
  if (!root.epsilon)
    return "no number is added to the mean of squares";
  Value stat = repeatedAlongRows(repeated, root.mean.axis(), root.matched);
  if (!stat || stat.getDefiningOp() != root.root)
    return "the root is not repeated along the dimensions of the mean";
  return describeOutsideUse(op, root.matched);
}

/// Replaces `op` by the norm of `x` if `repeated` is the root mean square (or its reciprocal) of
/// its rows.
static LogicalResult raiseRms(Operation *op, Value x, Value repeated, bool reciprocal,
                              MissedRemarks &missedRemarks, PatternRewriter &rewriter) {
  std::optional<RootOfSquares> root = rootOfSquares(repeated, reciprocal);
  if (!root || sourceOf(root->squared) != sourceOf(x))
    return rewriter.notifyMatchFailure(op, "not scaled by its root mean square");
  if (std::string why = whyNoNorm(op, x, repeated, *root); !why.empty())
    return missedRemarks.note(op, "rms_norm", why);
  Location loc = fuseLocations(op, root->matched.getArrayRef());
  rewriter.replaceOp(op, RmsNormOp::create(rewriter, loc, x.getType(), x, /*scale=*/Value(),
                                           rewriter.getI64IntegerAttr(root->mean.axis()),
                                           rewriter.getF64FloatAttr(*root->epsilon)));
  return success();
}

/// x · 1/√(mean(x²) + epsilon)
static LogicalResult raiseRmsFromMul(MulOp op, MissedRemarks &missedRemarks,
                                     PatternRewriter &rewriter) {
  if (succeeded(
          raiseRms(op, op.getLhs(), op.getRhs(), /*reciprocal=*/true, missedRemarks, rewriter)))
    return success();
  return raiseRms(op, op.getRhs(), op.getLhs(), /*reciprocal=*/true, missedRemarks, rewriter);
}

/// x / √(mean(x²) + epsilon)
static LogicalResult raiseRmsFromDiv(DivOp op, MissedRemarks &missedRemarks,
                                     PatternRewriter &rewriter) {
  return raiseRms(op, op.getLhs(), op.getRhs(), /*reciprocal=*/false, missedRemarks, rewriter);
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

/// The root mean square norm of x - mean(x) is the layer norm of x.
static LogicalResult raiseLayerNorm(RmsNormOp op, MissedRemarks &missedRemarks,
                                    PatternRewriter &rewriter) {
  auto centred = op.getInput().getDefiningOp<SubOp>();
  if (!centred)
    return rewriter.notifyMatchFailure(op, "operand is not a difference");
  MatchedOps matched;
  matched.insert(centred);
  Value stat = withoutRepetition(centred.getRhs(), matched);
  std::optional<ScaledSum> mean = scaledSumOf(stat, matched);
  if (!mean || mean->sum.getInput() != centred.getLhs())
    return rewriter.notifyMatchFailure(op, "no scaled sum of its own is subtracted");
  int64_t axis = op.getAxis();
  std::string why = whyNoMean(*mean);
  if (why.empty() && mean->axis() != axis)
    why = "the mean is over " + describeDims(mean->sum.getDims()) +
          ", that of squares over those from " + std::to_string(axis) + " on";
  if (why.empty() && repeatedAlongRows(centred.getRhs(), axis, matched) != stat)
    why = "the mean is not repeated along its dimensions";
  if (why.empty())
    why = describeOutsideUse(op, matched);
  if (!why.empty())
    return missedRemarks.note(op, "layer_norm", why);
  Location loc = fuseLocations(op, matched.getArrayRef());
  rewriter.replaceOp(op, LayerNormOp::create(rewriter, loc, op.getType(), centred.getLhs(),
                                             op.getScale(), /*bias=*/Value(), op.getAxisAttr(),
                                             op.getEpsilonAttr()));
  return success();
}

/// An epsilon that went through f32 is the shortest number that gives that one. In f64 the two are
/// told apart: there it stays what it is.
template <typename NormOp>
static LogicalResult restoreEpsilon(NormOp op, PatternRewriter &rewriter) {
  if (elementOf(op.getInput()).isF64())
    return rewriter.notifyMatchFailure(op, "f64 holds more than f32");
  double epsilon = op.getEpsilon().convertToDouble(), written = epsilon;
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), static_cast<float>(epsilon)).ptr;
  std::from_chars(text, end, written);
  if (written == epsilon || static_cast<float>(epsilon) != epsilon)
    return rewriter.notifyMatchFailure(op, "as it was written");
  rewriter.modifyOpInPlace(op, [&] { op.setEpsilon(APFloat(written)); });
  return success();
}

//===----------------------------------------------------------------------===//
// Scale and bias
//===----------------------------------------------------------------------===//

/// Norms that can still take a scale or bias: used by this operation alone.
static bool takesScale(LayerNormOp norm) {
  return norm->hasOneUse() && !norm.getScale() && !norm.getBias();
}
static bool takesScale(RmsNormOp norm) { return norm->hasOneUse() && !norm.getScale(); }
static bool takesBias(LayerNormOp norm) { return norm->hasOneUse() && !norm.getBias(); }

/// Replaces `op`, on a norm and on one row repeated for all others, by the norm with that row as
/// operand.
template <typename NormOp>
static LogicalResult absorbRow(Operation *op, bool (*takes)(NormOp),
                               MutableOperandRange (NormOp::*operand)(),
                               PatternRewriter &rewriter) {
  for (auto [first, second] : {std::pair(0, 1), std::pair(1, 0)}) {
    MatchedOps matched;
    auto norm = op->getOperand(first).template getDefiningOp<NormOp>();
    Value row = norm && takes(norm)
                    ? repeatedForRows(op->getOperand(second), norm.getAxis(), matched)
                    : Value();
    if (!row)
      continue;
    matched.insert(norm);
    ArrayRef<int64_t> shape = shapeOf(norm.getInput()).drop_front(norm.getAxis());
    if (shapeOf(row) != shape)
      row = ReshapeOp::create(rewriter, row.getLoc(), RankedTensorType::get(shape, elementOf(row)),
                              row);
    auto result = cast<NormOp>(rewriter.clone(*norm));
    (result.*operand)().assign(row);
    result->setLoc(fuseLocations(op, matched.getArrayRef()));
    rewriter.replaceOp(op, result);
    return success();
  }
  return rewriter.notifyMatchFailure(op, "not a norm and a row");
}

template <typename NormOp> static LogicalResult absorbScale(MulOp op, PatternRewriter &rewriter) {
  return absorbRow<NormOp>(op, takesScale, &NormOp::getScaleMutable, rewriter);
}

static LogicalResult absorbBias(AddOp op, PatternRewriter &rewriter) {
  return absorbRow<LayerNormOp>(op, takesBias, &LayerNormOp::getBiasMutable, rewriter);
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

/// The reduction that a broadcast repeats, its unit dimensions restored; null if it is not that.
static ReduceOp repeatedReduction(Value repeated, ReduceKind kind, MatchedOps &matched) {
  auto reduce = withoutRepetition(repeated, matched).getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != kind)
    return {};
  matched.insert(reduce);
  return reduce;
}

/// Whether a broadcast repeats a reduction along the dimension that was reduced, and no other.
static bool isRepeatedAlong(Value repeated, int64_t axis) {
  auto broadcast = repeated.getDefiningOp<BroadcastOp>();
  for (auto [dim, size] : llvm::enumerate(shapeOf(repeated))) {
    bool named = broadcast && llvm::is_contained(broadcast.getDims(), static_cast<int64_t>(dim));
    if (size != 1 && named == (static_cast<int64_t>(dim) == axis))
      return false;
  }
  return true;
}

/// Why exponentials that are divided by their sum are no softmax; "" if they are one.
static std::string whyNoSoftmax(DivOp op, ExpOp exponential, ReduceOp sum, MatchedOps &matched) {
  auto shifted = exponential.getInput().getDefiningOp<SubOp>();
  ReduceOp max =
      shifted ? repeatedReduction(shifted.getRhs(), ReduceKind::Max, matched) : ReduceOp();
  if (!max)
    return "no maximum is subtracted before the exponential";
  matched.insert(shifted);
  if (max.getInput() != shifted.getLhs())
    return "the maximum is that of " + describe(max.getInput()) + ", but is subtracted from " +
           describe(shifted.getLhs());
  if (sum.getDims().size() != 1)
    return "the sum is over " + describeDims(sum.getDims());
  if (max.getDims() != sum.getDims())
    return "the maximum is over " + describeDims(max.getDims()) + ", the sum over " +
           describeDims(sum.getDims());
  int64_t axis = sum.getDims().front();
  if (!isRepeatedAlong(op.getRhs(), axis) || !isRepeatedAlong(shifted.getRhs(), axis))
    return "maximum and sum are not repeated along the dimension that they are over";
  return describeOutsideUse(op, matched);
}

/// exp(x - max x) / Σ exp(x - max x)
static LogicalResult raiseSoftmax(DivOp op, MissedRemarks &missedRemarks,
                                  PatternRewriter &rewriter) {
  auto exponential = op.getLhs().getDefiningOp<ExpOp>();
  MatchedOps matched;
  ReduceOp sum = repeatedReduction(op.getRhs(), ReduceKind::Sum, matched);
  if (!exponential || !sum || sum.getInput() != exponential.getResult())
    return rewriter.notifyMatchFailure(op, "no exponentials divided by their sum");
  matched.insert(exponential);
  if (std::string why = whyNoSoftmax(op, exponential, sum, matched); !why.empty())
    return missedRemarks.note(op, "softmax", why);
  Value x = exponential.getInput().getDefiningOp<SubOp>().getLhs();
  Location loc = fuseLocations(op, matched.getArrayRef());
  rewriter.replaceOp(op, SoftmaxOp::create(rewriter, loc, x.getType(), x,
                                           rewriter.getI64IntegerAttr(sum.getDims().front())));
  return success();
}

namespace {
struct RaiseNorms : weft::impl::RaiseNormsBase<RaiseNorms> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MissedRemarks missedRemarks;
    patterns.add(absorbBias)
        .add(absorbScale<LayerNormOp>)
        .add(absorbScale<RmsNormOp>)
        .add(restoreEpsilon<LayerNormOp>)
        .add(restoreEpsilon<RmsNormOp>);
    addPattern(patterns, missedRemarks, raiseLayerNorm);
    addPattern(patterns, missedRemarks, raiseRmsFromDiv);
    addPattern(patterns, missedRemarks, raiseRmsFromMul);
    addPattern(patterns, missedRemarks, raiseSoftmax);
    if (failed(rewriteAndReport(*this, getOperation(), std::move(patterns), missedRemarks)))
      signalPassFailure();
  }
};
} // namespace
