#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/ViewChain.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/ViewMap.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_MOVEVIEWSTOWEIGHTS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Views of the last dimensions
//===----------------------------------------------------------------------===//

/// Whether a view leaves the first `count` dimensions as they are.
static bool keepsFirst(Operation *view, int64_t count) {
  ArrayRef<int64_t> from = shapeOf(view->getOperand(0)), to = shapeOf(view->getResult(0));
  if (static_cast<int64_t>(to.size()) < count || from.take_front(count) != to.take_front(count))
    return false;
  auto transpose = dyn_cast<TransposeOp>(view);
  return !transpose ||
         llvm::equal(transpose.getPermutation().take_front(count), llvm::seq<int64_t>(0, count));
}

/// The view of the dimensions from `first` on, applied to a value that has `prefix` dimensions
/// before those.
static Value viewLast(OpBuilder &builder, Operation *view, int64_t first, Value value,
                      int64_t prefix) {
  SmallVector<int64_t> shape(shapeOf(value).take_front(prefix));
  llvm::append_range(shape, shapeOf(view->getResult(0)).drop_front(first));
  auto type = RankedTensorType::get(shape, elementOf(value));
  if (isa<ReshapeOp>(view))
    return ReshapeOp::create(builder, view->getLoc(), type, value);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, prefix));
  for (int64_t dim : cast<TransposeOp>(view).getPermutation().drop_front(first))
    order.push_back(dim - first + prefix);
  return TransposeOp::create(builder, view->getLoc(), type, value, order);
}

//===----------------------------------------------------------------------===//
// Where a view can go
//===----------------------------------------------------------------------===//

/// The first dimension of the result that comes from the right operand, a weight in canonical form;
/// -1 if it is not.
static int64_t firstWeightDim(DotGeneralOp op) {
  SmallVector<int64_t> order(op.getRhsBatch());
  llvm::append_range(order, op.getRhsContract());
  int64_t used = order.size();
  if (!isWeightView(op.getRhs()) || !llvm::equal(order, llvm::seq<int64_t>(0, used)))
    return -1;
  return rankOf(op.getResult()) - (rankOf(op.getRhs()) - used);
}

/// A row repeated for all others: its dimensions are the last ones from `first` on, all of them.
static bool isRow(Value value, int64_t first) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast && llvm::equal(broadcast.getDims(), llvm::seq<int64_t>(first, rankOf(value)));
}

/// The product with a weight of which a value is made by arithmetic with numbers and rows; null if
/// it is not.
static DotGeneralOp productBehind(Value value, int depth = 8) {
  Operation *op = value.getDefiningOp();
  if (auto product = dyn_cast_or_null<DotGeneralOp>(op))
    return firstWeightDim(product) >= 0 ? product : DotGeneralOp();
  if (depth == 0 || !isa_and_nonnull<AddOp, DivOp, MulOp, SubOp>(op))
    return {};
  for (auto [index, other] : {std::pair(0, 1), std::pair(1, 0)}) {
    if (!op->getOperand(index).hasOneUse())
      continue;
    DotGeneralOp product = productBehind(op->getOperand(index), depth - 1);
    if (product && (splatNumber(op->getOperand(other)) ||
                    isRow(op->getOperand(other), firstWeightDim(product))))
      return product;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Moving
//===----------------------------------------------------------------------===//

/// The value under the view, computed from views of the weight and of the rows.
static Value moveView(PatternRewriter &rewriter, Operation *view, Value value, int64_t first) {
  Operation *op = value.getDefiningOp();
  auto type = RankedTensorType::get(shapeOf(view->getResult(0)), elementOf(value));
  if (splatNumber(value)) {
    std::optional<double> number = splatNumber(value);
    auto attribute = isa<FloatType>(type.getElementType())
                         ? Attribute(rewriter.getFloatAttr(type.getElementType(), *number))
                         : rewriter.getIntegerAttr(type.getElementType(), *number);
    return ConstantOp::create(rewriter, value.getLoc(), DenseElementsAttr::get(type, attribute));
  }
  Location loc = fuseLocations(op, {view});
  if (auto product = dyn_cast<DotGeneralOp>(op)) {
    int64_t prefix = product.getRhsBatch().size() + product.getRhsContract().size();
    Value weight = viewLast(rewriter, view, first, product.getRhs(), prefix);
    return DotGeneralOp::create(rewriter, loc, product.getLhs(), weight, product.getLhsBatch(),
                                product.getRhsBatch(), product.getLhsContract(),
                                product.getRhsContract());
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value row = viewLast(rewriter, view, first, broadcast.getInput(), 0);
    auto dims = llvm::to_vector(llvm::seq<int64_t>(first, type.getRank()));
    return BroadcastOp::create(rewriter, loc, type, row, dims);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(moveView(rewriter, view, operand, first));
  return cloneWithTypes(rewriter, op, operands, type).front();
}

template <typename ViewOp>
static LogicalResult moveToWeight(ViewOp view, PatternRewriter &rewriter) {
  Value value = view.getInput();
  DotGeneralOp product = value.hasOneUse() ? productBehind(value) : DotGeneralOp();
  if (!product)
    return rewriter.notifyMatchFailure(view, "not a view of a product with a weight");
  int64_t first = firstWeightDim(product);
  if (!keepsFirst(view, first))
    return rewriter.notifyMatchFailure(view, "the view changes dimensions of the left operand");
  if (isa<ReshapeOp>(view) &&
      llvm::count(shapeOf(view.getResult()), 1) > llvm::count(shapeOf(value), 1))
    return rewriter.notifyMatchFailure(view, "products need no unit dimensions");
  Value moved = moveView(rewriter, view, value, first);
  moved.getDefiningOp()->setLoc(fuseLocations(view, {value.getDefiningOp()}));
  rewriter.replaceOp(view, moved);
  return success();
}

/// Whether all dimensions that a slice cuts are cut to one element, the last not.
static bool selects(SliceOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getInput()), to = shapeOf(op.getResult());
  bool keepsRows = from.empty() || from.back() == to.back();
  return keepsRows && llvm::all_of(llvm::zip(from, to), [](auto sizes) {
           return std::get<0>(sizes) == std::get<1>(sizes) || std::get<1>(sizes) == 1;
         });
}

static LogicalResult moveSelection(SliceOp op, PatternRewriter &rewriter) {
  if (!selects(op))
    return rewriter.notifyMatchFailure(op, "takes more than one of a dimension, or parts of rows");
  // Other views may still meet their inverses, or be raised.
  return moveSliceToWeights(op, rewriter);
}

void weft::populateMoveSelectionsToWeights(RewritePatternSet &patterns) {
  patterns.add(moveSelection).add(moveToWeight<ReshapeOp>).add(moveToWeight<TransposeOp>);
}

namespace {
struct MoveViewsToWeights : weft::impl::MoveViewsToWeightsBase<MoveViewsToWeights> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(moveToWeight<ReshapeOp>).add(moveToWeight<TransposeOp>);
    patterns.add(moveSlicesToWeights);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
