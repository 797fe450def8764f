#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

namespace weft {
#define GEN_PASS_DEF_DROPGUARDS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// What no number of an integer type exceeds; floats have no such bound.
static uint64_t greatestOf(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return std::numeric_limits<uint64_t>::max();
  bool hasSign = !integer.isUnsigned() && integer.getWidth() > 1;
  return llvm::maxUIntN(integer.getWidth() - hasSign);
}

static bool hasNoSign(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

static std::optional<uint64_t> boundOf(Value value, int depth);

/// The bounds of several values, joined by `join`; none where one has none.
static std::optional<uint64_t> boundOfAll(ValueRange values, int depth,
                                          const uint64_t &(*join)(const uint64_t &,
                                                                  const uint64_t &)) {
  std::optional<uint64_t> all;
  for (Value value : values) {
    std::optional<uint64_t> bound = boundOf(value, depth);
    if (!bound)
      return std::nullopt;
    all = all ? join(*all, *bound) : *bound;
  }
  return all;
}

static std::optional<uint64_t> boundOfConstant(Value value) {
  FailureOr<Tensor> known = constantValue(value);
  if (failed(known))
    return std::nullopt;
  return withNumber(known->kind(), [&](auto zero) -> std::optional<uint64_t> {
    uint64_t bound = 0;
    for (auto number : storedNumbersOf<decltype(zero)>(*known)) {
      if (!(number >= zero))
        return std::nullopt;
      bound = isFloat(known->kind()) ? greatestOf(elementOf(value))
                                     : std::max(bound, static_cast<uint64_t>(number));
    }
    return bound;
  });
}

/// The larger of two numbers is not below 0 if one is not.
static std::optional<uint64_t> boundOfMax(MaxOp op, int depth) {
  std::optional<uint64_t> left = boundOf(op.getLhs(), depth), right = boundOf(op.getRhs(), depth);
  if (!left && !right)
    return std::nullopt;
  uint64_t greatest = greatestOf(elementOf(op.getResult()));
  return std::max(left.value_or(greatest), right.value_or(greatest));
}

static std::optional<uint64_t> boundOfCast(CastOp op, int depth) {
  Type from = elementOf(op.getInput()), to = elementOf(op.getResult());
  std::optional<uint64_t> bound = boundOf(op.getInput(), depth);
  if (!bound || isa<FloatType>(to)) // which rounds up, too
    return bound ? std::optional(greatestOf(to)) : std::nullopt;
  return isa<FloatType>(from) || to.isInteger(1) ? std::min(*bound, greatestOf(to)) : *bound;
}

/// What the results of an operation do not exceed before they are put into its type, in which
/// larger ones wrap around.
static std::optional<uint64_t> boundByOperation(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  auto last = [](int64_t extent) {
    return static_cast<uint64_t>(std::max<int64_t>(extent, 1)) - 1;
  };
  if (!op || depth == 0)
    return std::nullopt;
  if (isa<ConstantOp>(op))
    return boundOfConstant(value);
  if (auto iota = dyn_cast<IotaOp>(op))
    return last(shapeOf(value)[iota.getDim()]);
  if (auto sort = dyn_cast<SortOp>(op))
    return value == sort.getPositions() ? last(shapeOf(sort.getInput())[sort.getAxis()])
                                        : boundOf(sort.getInput(), depth - 1);
  if (auto larger = dyn_cast<MaxOp>(op))
    return boundOfMax(larger, depth - 1);
  if (isa<MinOp>(op))
    return boundOfAll(op->getOperands(), depth - 1, std::min<uint64_t>);
  if (isa<BroadcastOp, ConcatOp, ReshapeOp, SliceOp, TransposeOp>(op))
    return boundOfAll(op->getOperands(), depth - 1, std::max<uint64_t>);
  if (auto select = dyn_cast<SelectOp>(op))
    return boundOfAll({select.getOnTrue(), select.getOnFalse()}, depth - 1, std::max<uint64_t>);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    bool isExtreme = reduce.getKind() == ReduceKind::Max || reduce.getKind() == ReduceKind::Min;
    bool isOfNothing = llvm::is_contained(shapeOf(reduce.getInput()), 0);
    return isExtreme && !isOfNothing ? boundOf(reduce.getInput(), depth - 1) : std::nullopt;
  }
  if (auto cast = dyn_cast<CastOp>(op))
    return boundOfCast(cast, depth - 1);
  return std::nullopt;
}

/// A number that no element exceeds, of a value none of whose elements is below 0; none where one
/// may be, as far as a short look back tells. Nothing is said of what is not a number.
static std::optional<uint64_t> boundOf(Value value, int depth) {
  Type element = elementOf(value);
  std::optional<uint64_t> bound = boundByOperation(value, depth);
  if (bound && *bound <= greatestOf(element))
    return bound;
  return hasNoSign(element) ? std::optional(greatestOf(element)) : std::nullopt;
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
      !boundOf(op.getLhs(), maxDepth))
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
