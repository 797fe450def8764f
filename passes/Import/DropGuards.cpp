#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

namespace weft {
#define GEN_PASS_DEF_DROPGUARDS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Lower bounds
//===----------------------------------------------------------------------===//

static bool isNonNegative(Value value, int depth);

static bool isNonNegativeConstant(Value value) {
  if (std::optional<double> number = splatNumber(value))
    return *number >= 0;
  FailureOr<Tensor> known = constantValue(value);
  return succeeded(known) &&
         llvm::all_of(heldNumbersOf<double>(*known), [](double number) { return number >= 0; });
}

/// Whether no element is below 0, as far as a short look back tells. Nothing is said of what is not
/// a number.
static bool isNonNegative(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto holds = [&](Value operand) { return isNonNegative(operand, depth - 1); };
  if (isa<ConstantOp>(op))
    return isNonNegativeConstant(value);
  if (isa<IotaOp>(op))
    return true;
  if (auto sort = dyn_cast<SortOp>(op))
    return value == sort.getPositions() || holds(sort.getInput());
  if (isa<MaxOp>(op))
    return llvm::any_of(op->getOperands(), holds);
  if (isa<BroadcastOp, ConcatOp, MinOp, ReshapeOp, SliceOp, TransposeOp>(op))
    return llvm::all_of(op->getOperands(), holds);
  if (auto select = dyn_cast<SelectOp>(op))
    return holds(select.getOnTrue()) && holds(select.getOnFalse());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return (reduce.getKind() == ReduceKind::Max || reduce.getKind() == ReduceKind::Min) &&
           holds(reduce.getInput());
  if (auto cast = dyn_cast<CastOp>(op)) {
    Type from = elementOf(cast.getInput());
    return from.isInteger(1) || from.isUnsignedInteger() || holds(cast.getInput());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// max(x, -inf) and min(x, inf) are x.
template <typename Op> static LogicalResult dropBound(Op op, PatternRewriter &rewriter) {
  double bound = isa<MaxOp>(op) ? -INFINITY : INFINITY;
  for (auto [number, other] :
       {std::pair(op.getRhs(), op.getLhs()), std::pair(op.getLhs(), op.getRhs())})
    if (splatNumber(number) == bound) {
      rewriter.replaceOp(op, other);
      return success();
    }
  return rewriter.notifyMatchFailure(op, "no bound that is always kept");
}

/// Indices that count from the start are not corrected for counting from the end.
static LogicalResult dropNegativeTest(CompareOp op, PatternRewriter &rewriter) {
  constexpr int maxDepth = 12; // index arithmetic is shallow; keeps the search linear
  bool less = op.getDirection() == CompareDirection::LT;
  if ((!less && op.getDirection() != CompareDirection::GE) ||
      !isa<IntegerType>(elementOf(op.getLhs())) || splatNumber(op.getRhs()) != 0.0 ||
      !isNonNegative(op.getLhs(), maxDepth))
    return rewriter.notifyMatchFailure(op, "not a test for negative indices that cannot be");
  rewriter.replaceOpWithNewOp<ConstantOp>(op, DenseElementsAttr::get(op.getType(), !less));
  return success();
}

/// select(c, 1, 0) is c as a number.
static LogicalResult selectToCast(SelectOp op, PatternRewriter &rewriter) {
  if (splatNumber(op.getOnTrue()) != 1.0 || splatNumber(op.getOnFalse()) != 0.0 ||
      elementOf(op.getResult()).isInteger(1))
    return rewriter.notifyMatchFailure(op, "not a choice between 1 and 0");
  rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), op.getCondition());
  return success();
}

/// A truth value is 1 or 0 in every type between.
static LogicalResult shortenCast(CastOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<CastOp>();
  if (!inner || !elementOf(inner.getInput()).isInteger(1))
    return rewriter.notifyMatchFailure(op, "not a converted truth value");
  rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), inner.getInput());
  return success();
}

namespace {
struct DropGuards : weft::impl::DropGuardsBase<DropGuards> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(dropBound<MaxOp>)
        .add(dropBound<MinOp>)
        .add(dropNegativeTest)
        .add(selectToCast)
        .add(shortenCast);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
