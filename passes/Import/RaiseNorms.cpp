#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Match.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
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

/// A value mean(x²) + epsilon over the last dimensions from `axis` on.
static std::optional<double> meanSquare(Value value, Value x, int64_t &axis, Swallowed &swallowed) {
  auto add = value.getDefiningOp<AddOp>();
  if (!add)
    return std::nullopt;
  for (auto [number, other] :
       {std::pair(add.getRhs(), add.getLhs()), std::pair(add.getLhs(), add.getRhs())}) {
    std::optional<double> epsilon = splatNumber(number);
    std::optional<Mean> mean = epsilon ? meanOf(other, swallowed) : std::nullopt;
    auto square = mean ? mean->of.getDefiningOp<MulOp>() : MulOp();
    if (!square || square.getLhs() != x || square.getRhs() != x)
      continue;
    swallowed.insert(square);
    swallowed.insert(add);
    axis = mean->axis;
    return epsilon;
  }
  return std::nullopt;
}

/// Replaces `op` by the norm of `x` if `divisor` (or `factor`) is the root mean square (or its
/// reciprocal) of its rows.
static LogicalResult raiseRms(Operation *op, Value x, Value repeated, bool reciprocal,
                              PatternRewriter &rewriter) {
  for (int64_t axis = rankOf(x) - 1; axis >= 0; --axis) {
    Swallowed swallowed;
    Value root = repeatedAlongRows(repeated, axis, swallowed);
    Operation *rootOp = root ? root.getDefiningOp() : nullptr;
    if (!(reciprocal ? isa_and_nonnull<RsqrtOp>(rootOp) : isa_and_nonnull<SqrtOp>(rootOp)))
      continue;
    swallowed.insert(rootOp);
    int64_t meanAxis = -1;
    std::optional<double> epsilon = meanSquare(rootOp->getOperand(0), x, meanAxis, swallowed);
    if (!epsilon || meanAxis != axis || !isPrivate(op, swallowed))
      continue;
    Location loc = fuseLocations(op, swallowed.getArrayRef());
    rewriter.replaceOp(op, RmsNormOp::create(rewriter, loc, x.getType(), x, /*scale=*/Value(),
                                             rewriter.getI64IntegerAttr(axis),
                                             rewriter.getF64FloatAttr(*epsilon)));
    return success();
  }
  return rewriter.notifyMatchFailure(op, "not scaled by its root mean square");
}

/// x · 1/√(mean(x²) + epsilon)
static LogicalResult raiseRmsFromMul(MulOp op, PatternRewriter &rewriter) {
  if (succeeded(raiseRms(op, op.getLhs(), op.getRhs(), /*reciprocal=*/true, rewriter)))
    return success();
  return raiseRms(op, op.getRhs(), op.getLhs(), /*reciprocal=*/true, rewriter);
}

/// x / √(mean(x²) + epsilon)
static LogicalResult raiseRmsFromDiv(DivOp op, PatternRewriter &rewriter) {
  return raiseRms(op, op.getLhs(), op.getRhs(), /*reciprocal=*/false, rewriter);
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

/// The root mean square norm of x - mean(x) is the layer norm of x.
static LogicalResult raiseLayerNorm(RmsNormOp op, PatternRewriter &rewriter) {
  auto centred = op.getInput().getDefiningOp<SubOp>();
  if (!centred)
    return rewriter.notifyMatchFailure(op, "operand is not a difference");
  int64_t axis = op.getAxis();
  Swallowed swallowed;
  swallowed.insert(centred);
  Value stat = repeatedAlongRows(centred.getRhs(), axis, swallowed);
  std::optional<Mean> mean = stat ? meanOf(stat, swallowed) : std::nullopt;
  if (!mean || mean->of != centred.getLhs() || mean->axis != axis)
    return rewriter.notifyMatchFailure(op, "the mean is not subtracted");
  if (!isPrivate(op, swallowed))
    return rewriter.notifyMatchFailure(op, "others read the mean");
  Location loc = fuseLocations(op, swallowed.getArrayRef());
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
    Swallowed swallowed;
    auto norm = op->getOperand(first).template getDefiningOp<NormOp>();
    Value row = norm && takes(norm)
                    ? repeatedForRows(op->getOperand(second), norm.getAxis(), swallowed)
                    : Value();
    if (!row)
      continue;
    swallowed.insert(norm);
    ArrayRef<int64_t> shape = shapeOf(norm.getInput()).drop_front(norm.getAxis());
    if (shapeOf(row) != shape)
      row = ReshapeOp::create(rewriter, row.getLoc(), RankedTensorType::get(shape, elementOf(row)),
                              row);
    auto result = cast<NormOp>(rewriter.clone(*norm));
    (result.*operand)().assign(row);
    result->setLoc(fuseLocations(op, swallowed.getArrayRef()));
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

/// The dimension over which a broadcast repeats the reduction of `of`; none if it is not that.
static std::optional<int64_t> reducedDim(Value repeated, ReduceKind kind, Value of,
                                         Swallowed &swallowed) {
  auto broadcast = repeated.getDefiningOp<BroadcastOp>();
  Value input = broadcast ? broadcast.getInput() : Value();
  if (auto reshape = input ? input.getDefiningOp<ReshapeOp>() : ReshapeOp())
    input = reshape.getInput();
  auto reduce = input ? input.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!reduce || reduce.getKind() != kind || reduce.getInput() != of ||
      reduce.getDims().size() != 1)
    return std::nullopt;
  int64_t axis = reduce.getDims().front();
  for (auto [dim, size] : llvm::enumerate(shapeOf(of))) {
    bool named = llvm::is_contained(broadcast.getDims(), static_cast<int64_t>(dim));
    if (size != 1 && named == (static_cast<int64_t>(dim) == axis))
      return std::nullopt;
  }
  swallowed.insert(reduce);
  swallowed.insert(broadcast);
  return axis;
}

/// exp(x - max x) / Σ exp(x - max x)
static LogicalResult raiseSoftmax(DivOp op, PatternRewriter &rewriter) {
  auto exponential = op.getLhs().getDefiningOp<ExpOp>();
  auto shifted = exponential ? exponential.getInput().getDefiningOp<SubOp>() : SubOp();
  if (!shifted)
    return rewriter.notifyMatchFailure(op, "dividend is not the exponential of a difference");
  Swallowed swallowed;
  swallowed.insert(exponential);
  swallowed.insert(shifted);
  Value x = shifted.getLhs();
  std::optional<int64_t> of = reducedDim(shifted.getRhs(), ReduceKind::Max, x, swallowed);
  std::optional<int64_t> sum = reducedDim(op.getRhs(), ReduceKind::Sum, exponential, swallowed);
  if (!of || of != sum || !isPrivate(op, swallowed))
    return rewriter.notifyMatchFailure(op, "not divided by its sum");
  Location loc = fuseLocations(op, swallowed.getArrayRef());
  rewriter.replaceOp(
      op, SoftmaxOp::create(rewriter, loc, x.getType(), x, rewriter.getI64IntegerAttr(*of)));
  return success();
}

namespace {
struct RaiseNorms : weft::impl::RaiseNormsBase<RaiseNorms> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(absorbBias)
        .add(absorbScale<LayerNormOp>)
        .add(absorbScale<RmsNormOp>)
        .add(raiseLayerNorm)
        .add(raiseRmsFromDiv)
        .add(raiseRmsFromMul)
        .add(raiseSoftmax)
        .add(restoreEpsilon<LayerNormOp>)
        .add(restoreEpsilon<RmsNormOp>);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
