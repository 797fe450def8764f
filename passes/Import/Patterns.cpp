#include "passes/Import/Patterns.h"

#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace weft;

namespace {
/// Sums and products have what is repeated (biases, scales, masks) on the right.
struct RepeatedOnTheRight : RewritePattern {
  explicit RepeatedOnTheRight(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<AddOp, MulOp>(op) || !op->getOperand(0).getDefiningOp<BroadcastOp>() ||
        isa_and_nonnull<BroadcastOp, ConstantOp>(op->getOperand(1).getDefiningOp()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperands({op->getOperand(1), op->getOperand(0)}); });
    return success();
  }
};
} // namespace

void weft::populateCanonicalization(RewritePatternSet &patterns) {
  patterns.add<RepeatedOnTheRight>(patterns.getContext());
  for (RegisteredOperationName op : patterns.getContext()->getRegisteredOperations())
    if (isa<WeftDialect>(&op.getDialect()))
      op.getCanonicalizationPatterns(patterns, patterns.getContext());
}

Location weft::fuseLocations(Operation *root, ArrayRef<Operation *> swallowed) {
  SmallVector<Location> locations = {root->getLoc()};
  for (Operation *op : swallowed)
    locations.push_back(op->getLoc());
  return FusedLoc::get(root->getContext(), locations);
}
