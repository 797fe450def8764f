// Elementwise operations, reductions and normalisations before views; products in
// SinkViewsProducts.cpp.

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/ViewMap.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_SINKVIEWS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && isa<WeftDialect>(op->getDialect());
}

/// The coarsest shape that both shapes, of as many elements, join dimensions of; without unit
/// dimensions if they differ. None where one splits what the other joins across.
static std::optional<SmallVector<int64_t>> refineShapes(ArrayRef<int64_t> one,
                                                        ArrayRef<int64_t> other) {
  if (one == other)
    return SmallVector<int64_t>(one);
  SmallVector<int64_t> strides;
  for (ArrayRef<int64_t> shape : {one, other})
    for (int64_t elements = 1; int64_t size : llvm::reverse(shape))
      strides.push_back(elements *= size);
  llvm::sort(strides);
  SmallVector<int64_t> refined;
  for (int64_t last = 1; int64_t stride : strides) {
    if (stride % last != 0)
      return std::nullopt;
    if (stride != last)
      refined.push_back(stride / last);
    last = stride;
  }
  std::reverse(refined.begin(), refined.end());
  return refined;
}

/// The operand, a splat or a reshape, in another shape.
static Value reshapedTo(PatternRewriter &rewriter, Value operand, RankedTensorType type) {
  if (auto constant = operand.getDefiningOp<ConstantOp>())
    return resizeSplat(rewriter, constant, type);
  Value input = operand.getDefiningOp<ReshapeOp>().getInput();
  return rewriter.createOrFold<ReshapeOp>(operand.getLoc(), type, input);
}

namespace {
/// f(view(x), view(y), splat) is view(f(x, y, splat)).
struct SinkPastElementwise : RewritePattern {
  explicit SinkPastElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    for (Value operand : op->getOperands()) {
      Operation *view = sinkableView(operand);
      if (!view ||
          !llvm::all_of(op->getOperands(), [&](Value other) { return canUndoView(view, other); }))
        continue;
      SmallVector<Value> operands;
      for (Value other : op->getOperands())
        operands.push_back(undoView(rewriter, view, other));
      Type type = RankedTensorType::get(shapeOf(operands[0]), elementOf(op->getResult(0)));
      Value result = cloneWithTypes(rewriter, op, operands, type).front();
      rewriter.replaceOp(
          op, repeatView(rewriter, op->getLoc(), view, result, op->getResult(0).getType()));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no view common to the operands");
  }
};

/// f(reshape(x), reshape(y), splat), whose dimensions x and y split differently, is a reshape of f
/// on what splits them as both do: of 4x6x8 and 4x3x16, which 24x8 joins, on 4x3x2x8. Heads that
/// one operand has in groups and another has not are joined with rows so.
struct SinkDifferentReshapes : RewritePattern {
  explicit SinkDifferentReshapes(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    std::optional<SmallVector<int64_t>> shape;
    for (Value operand : op->getOperands()) {
      if (operand.getDefiningOp<ConstantOp>() && splatNumber(operand))
        continue;
      auto view = dyn_cast_or_null<ReshapeOp>(sinkableView(operand));
      if (!view)
        return rewriter.notifyMatchFailure(op, "an operand is not a reshape");
      ArrayRef<int64_t> from = shapeOf(view.getInput());
      shape = shape ? refineShapes(*shape, from) : SmallVector<int64_t>(from);
      if (!shape)
        return rewriter.notifyMatchFailure(op, "operands are split where others are not");
    }
    if (!shape || countOthersThanOne(*shape) <= countOthersThanOne(shapeOf(op->getResult(0))))
      return rewriter.notifyMatchFailure(op, "nothing is joined");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto type = RankedTensorType::get(*shape, elementOf(operand));
      operands.push_back(reshapedTo(rewriter, operand, type));
    }
    Type type = RankedTensorType::get(*shape, elementOf(op->getResult(0)));
    Value result = cloneWithTypes(rewriter, op, operands, type).front();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), result);
    return success();
  }
};

/// f(broadcast(x), broadcast(y), splat), all alike, is broadcast(f(x, y, splat)).
struct SinkBroadcast : RewritePattern {
  explicit SinkBroadcast(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  static bool isAlike(BroadcastOp broadcast, Value operand) {
    if (operand.getDefiningOp<ConstantOp>())
      return splatNumber(operand).has_value();
    auto other = operand.getDefiningOp<BroadcastOp>();
    return other && other.getDims() == broadcast.getDims() &&
           shapeOf(other.getInput()) == shapeOf(broadcast.getInput());
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    BroadcastOp broadcast;
    for (Value operand : op->getOperands())
      if (!broadcast)
        broadcast = operand.getDefiningOp<BroadcastOp>();
    if (!broadcast ||
        !llvm::all_of(op->getOperands(), [&](Value other) { return isAlike(broadcast, other); }))
      return rewriter.notifyMatchFailure(op, "operands are not broadcast alike");
    SmallVector<Value> operands;
    ArrayRef<int64_t> shape = shapeOf(broadcast.getInput());
    for (Value operand : op->getOperands()) {
      auto type = RankedTensorType::get(shape, elementOf(operand));
      if (auto constant = operand.getDefiningOp<ConstantOp>())
        operands.push_back(resizeSplat(rewriter, constant, type));
      else
        operands.push_back(operand.getDefiningOp<BroadcastOp>().getInput());
    }
    Type type = RankedTensorType::get(shape, elementOf(op->getResult(0)));
    Value result = cloneWithTypes(rewriter, op, operands, type).front();
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op->getResult(0).getType(), result,
                                             broadcast.getDims());
    return success();
  }
};
} // namespace

/// softmax(view(x)) is view(softmax(x)) where the view keeps the dimension.
static LogicalResult sinkPastSoftmax(SoftmaxOp op, PatternRewriter &rewriter) {
  Operation *view = sinkableView(op.getInput());
  std::optional<int64_t> axis;
  if (view)
    axis = ViewMap::of(view)->sourceOf(op.getAxis());
  if (!axis)
    return rewriter.notifyMatchFailure(op, "no view that keeps the dimension");
  Value input = view->getOperand(0);
  Value result = SoftmaxOp::create(rewriter, op.getLoc(), input.getType(), input, *axis);
  rewriter.replaceOp(op, repeatView(rewriter, op.getLoc(), view, result, op.getType()));
  return success();
}

/// norm(reshape(x)) is reshape(norm(x)) where the normalised dimensions stay the last ones.
template <typename NormOp> static LogicalResult sinkPastNorm(NormOp op, PatternRewriter &rewriter) {
  Operation *view = sinkableView(op.getInput());
  if (!view || !isa<ReshapeOp>(view))
    return rewriter.notifyMatchFailure(op, "operand is not a reshape");
  ViewMap map = *ViewMap::of(view);
  Value input = view->getOperand(0);
  int64_t shift = rankOf(input) - rankOf(op.getInput());
  for (int64_t dim = op.getAxis(); dim < rankOf(op.getInput()); ++dim)
    if (map.sourceOf(dim) != dim + shift)
      return rewriter.notifyMatchFailure(op, "normalised dimensions change");
  IRMapping mapping;
  mapping.map(op.getInput(), input);
  auto norm = cast<NormOp>(rewriter.clone(*op, mapping));
  norm.setAxis(op.getAxis() + shift);
  Value(norm.getResult()).setType(input.getType());
  rewriter.replaceOp(op, repeatView(rewriter, op.getLoc(), view, norm.getResult(), op.getType()));
  return success();
}

/// slice(view(x)) is view(slice(x)) where the view keeps the sliced dimensions.
static LogicalResult sinkPastSlice(SliceOp op, PatternRewriter &rewriter) {
  Operation *view = sinkableView(op.getInput());
  if (!view)
    return rewriter.notifyMatchFailure(op, "operand is not a view");
  ViewMap map = *ViewMap::of(view);
  Value input = view->getOperand(0);
  SmallVector<int64_t> starts(rankOf(input), 0), strides(rankOf(input), 1), shape(shapeOf(input));
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getResult()))) {
    if (size == shapeOf(op.getInput())[dim])
      continue;
    std::optional<int64_t> source = map.sourceOf(dim);
    if (!source)
      return rewriter.notifyMatchFailure(op, "the view does not keep the dimension");
    starts[*source] = op.getStarts()[dim];
    strides[*source] = op.getStrides()[dim];
    shape[*source] = size;
  }
  auto type = RankedTensorType::get(shape, elementOf(input));
  Value slice = SliceOp::create(rewriter, op.getLoc(), type, input, starts, strides);
  rewriter.replaceOp(op, repeatView(rewriter, op.getLoc(), view, slice, op.getType()));
  return success();
}

/// Whether two views are one but for the size of the dimension `axis` of their operands.
static bool isViewAlike(Operation *view, Operation *other, int64_t axis) {
  if (!other || other->getName() != view->getName())
    return false;
  SmallVector<int64_t> from(shapeOf(view->getOperand(0))), otherFrom(shapeOf(other->getOperand(0)));
  if (from.size() != otherFrom.size())
    return false;
  from[axis] = otherFrom[axis];
  auto transpose = dyn_cast<TransposeOp>(view);
  return from == otherFrom &&
         (!transpose || transpose.getPermutation() == cast<TransposeOp>(other).getPermutation());
}

/// concat(view(x), view(y)) is view(concat(x, y)) where the view keeps the dimension.
static LogicalResult sinkPastConcat(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs;
  std::optional<int64_t> axis;
  Operation *first = sinkableView(op.getInputs().front());
  for (Value input : op.getInputs()) {
    Operation *view = sinkableView(input);
    std::optional<int64_t> source = view ? ViewMap::of(view)->sourceOf(op.getAxis()) : std::nullopt;
    if (!source || (axis && axis != source) || !isViewAlike(first, view, *source))
      return rewriter.notifyMatchFailure(op, "operands are not viewed alike");
    axis = source;
    inputs.push_back(view->getOperand(0));
  }
  Value result = ConcatOp::create(rewriter, op.getLoc(), inputs, *axis);
  rewriter.replaceOp(op, repeatView(rewriter, op.getLoc(), first, result, op.getType()));
  return success();
}

/// reduce(view(x)) is a view of reduce(x) where groups of dimensions are reduced wholly or not at
/// all.
static LogicalResult sinkPastReduce(ReduceOp op, PatternRewriter &rewriter) {
  Operation *view = sinkableView(op.getInput());
  if (!view)
    return rewriter.notifyMatchFailure(op, "operand is not a view");
  ViewMap map = *ViewMap::of(view);
  SmallVector<int64_t> dims;
  for (int64_t dim : op.getDims()) {
    std::optional<Dims> sources = map.sourcesOf(dim);
    if (!sources)
      return rewriter.notifyMatchFailure(op, "a dimension is reduced in part");
    llvm::append_range(dims, *sources);
  }
  llvm::sort(dims);
  Value result = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), view->getOperand(0), dims);
  if (auto transpose = dyn_cast<TransposeOp>(view)) {
    SmallVector<int64_t> order; // of the kept dimensions, numbered among themselves
    for (int64_t dim : transpose.getPermutation())
      if (!llvm::is_contained(dims, dim))
        order.push_back(dim - llvm::count_if(dims, [&](int64_t other) { return other < dim; }));
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), result, order);
  } else {
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), result);
  }
  return success();
}

/// transpose(broadcast(x)) is broadcast(transpose(x)).
static LogicalResult transposeBroadcast(TransposeOp op, PatternRewriter &rewriter) {
  auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
  SmallVector<int64_t> dims, order;
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    if (const int64_t *at = llvm::find(broadcast.getDims(), from);
        at != broadcast.getDims().end()) {
      dims.push_back(to);
      order.push_back(at - broadcast.getDims().begin());
    }
  Value input = rewriter.createOrFold<TransposeOp>(op.getLoc(), broadcast.getInput(), order);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), input, dims);
  return success();
}

/// reshape(broadcast(x)) is broadcast(reshape(x)) where groups of dimensions are repeated wholly or
/// not at all.
static LogicalResult reshapeBroadcast(ReshapeOp op, PatternRewriter &rewriter) {
  auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
  std::optional<ViewMap> map = ViewMap::of(op);
  if (!broadcast || !map || llvm::is_contained(shapeOf(broadcast.getInput()), 1))
    return rewriter.notifyMatchFailure(op, "operand is not a canonical broadcast");
  SmallVector<int64_t> dims, shape;
  for (const ViewMap::Group &group : map->groups()) {
    int64_t own = llvm::count_if(
        group.from, [&](int64_t dim) { return llvm::is_contained(broadcast.getDims(), dim); });
    if (own == 0)
      continue;
    if (own != static_cast<int64_t>(group.from.size()))
      return rewriter.notifyMatchFailure(op, "a group is repeated in part");
    for (int64_t dim : group.to) {
      dims.push_back(dim);
      shape.push_back(shapeOf(op.getResult())[dim]);
    }
  }
  auto type = RankedTensorType::get(shape, elementOf(op.getResult()));
  Value input = rewriter.createOrFold<ReshapeOp>(op.getLoc(), type, broadcast.getInput());
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), input, dims);
  return success();
}

void weft::populateSinkViews(RewritePatternSet &patterns) {
  patterns.add<SinkBroadcast, SinkDifferentReshapes, SinkPastElementwise>(patterns.getContext());
  patterns.add(sinkPastConcat)
      .add(sinkPastNorm<LayerNormOp>)
      .add(sinkPastNorm<RmsNormOp>)
      .add(sinkPastReduce)
      .add(sinkPastSlice)
      .add(sinkPastSoftmax)
      .add(reshapeBroadcast)
      .add(transposeBroadcast);
  populateSinkViewsPastProducts(patterns);
  populateMoveSelectionsToWeights(patterns);
}

namespace {
struct SinkViews : weft::impl::SinkViewsBase<SinkViews> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSinkViews(patterns);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
