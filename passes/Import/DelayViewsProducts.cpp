// dot_general(reshape(x), y) becomes reshape(dot_general(x, y)): flattened batches and heads become
// dimensions again.

#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/ViewMap.h"

using namespace mlir;
using namespace weft;

namespace {
/// One operand of a product, with or without the reshape before it, and its dimension numbers
/// there.
struct Side {
  Side(Value operand, bool undo)
      : map(undo ? *ViewMap::of(operand.getDefiningOp()) : ViewMap::identity(operand)),
        value(undo ? operand.getDefiningOp()->getOperand(0) : operand) {}

  ViewMap map;
  Value value;
  SmallVector<int64_t> batch, contract;
};
} // namespace

/// Translates pairs of dimensions; fails where the two sides do not split them alike.
static LogicalResult translatePairs(Side &lhs, ArrayRef<int64_t> lhsDims,
                                    SmallVectorImpl<int64_t> &lhsOut, Side &rhs,
                                    ArrayRef<int64_t> rhsDims, SmallVectorImpl<int64_t> &rhsOut) {
  auto sizes = [](const Side &side, const Dims &dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return shapeOf(side.value)[dim]; });
  };
  for (auto [left, right] : llvm::zip(lhsDims, rhsDims)) {
    std::optional<Dims> l = lhs.map.sourcesOf(left), r = rhs.map.sourcesOf(right);
    if (!l || !r || sizes(lhs, *l) != sizes(rhs, *r))
      return failure();
    llvm::append_range(lhsOut, *l);
    llvm::append_range(rhsOut, *r);
  }
  return success();
}

/// Whether dimensions that share a group are all free, so that the result can be reshaped back.
static bool keepsGroups(const Side &side, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  return llvm::all_of(side.map.groups(), [&](const ViewMap::Group &group) {
    return group.to.size() == 1 || llvm::none_of(group.to, [&](int64_t dim) {
             return llvm::is_contained(batch, dim) || llvm::is_contained(contract, dim);
           });
  });
}

static LogicalResult delayPastDot(DotGeneralOp op, PatternRewriter &rewriter) {
  auto isReshape = [](Value value) { return isa_and_nonnull<ReshapeOp>(delayableView(value)); };
  bool onLeft = isReshape(op.getLhs()), onRight = isReshape(op.getRhs());
  for (auto [undoLeft, undoRight] : {std::pair(true, true), {true, false}, {false, true}}) {
    if ((undoLeft && !onLeft) || (undoRight && !onRight))
      continue;
    Side lhs(op.getLhs(), undoLeft), rhs(op.getRhs(), undoRight);
    if (failed(
            translatePairs(lhs, op.getLhsBatch(), lhs.batch, rhs, op.getRhsBatch(), rhs.batch)) ||
        failed(translatePairs(lhs, op.getLhsContract(), lhs.contract, rhs, op.getRhsContract(),
                              rhs.contract)) ||
        !keepsGroups(lhs, op.getLhsBatch(), op.getLhsContract()) ||
        !keepsGroups(rhs, op.getRhsBatch(), op.getRhsContract()))
      continue;
    Value result = DotGeneralOp::create(rewriter, op.getLoc(), lhs.value, rhs.value, lhs.batch,
                                        rhs.batch, lhs.contract, rhs.contract);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), result);
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no reshape that can follow the product");
}

void weft::populateDelayViewsPastProducts(RewritePatternSet &patterns) {
  patterns.add(delayPastDot);
}
