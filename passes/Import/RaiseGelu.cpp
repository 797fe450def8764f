#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Match.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

namespace weft {
#define GEN_PASS_DEF_RAISEGELU
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The erf or tanh of which a value is a sum or multiple; null if there is none.
static Operation *findCurve(Value value, int depth = 4) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ErfOp, TanhOp>(op))
    return op;
  if (depth == 0 || !isa_and_nonnull<AddOp, MulOp, DivOp>(op))
    return nullptr;
  for (Value operand : op->getOperands())
    if (Operation *curve = findCurve(operand, depth - 1))
      return curve;
  return nullptr;
}

/// Whether the curve's operand is x/√2 (erf) or √(2/π)·(x + 0.044715·x³) (tanh).
static std::optional<GeluForm> formOf(Operation *curve, Value x, Swallowed &swallowed) {
  constexpr double rootHalf = 0.70710678118654752, rootTwoOverPi = 0.79788456080286536;
  constexpr int rootRoundings = 2; // of the quotient, or π, and of its root
  std::optional<Polynomial> c = polynomialIn(curve->getOperand(0), x, swallowed);
  Type element = elementOf(x);
  if (!c || (*c)[0] != 0 || (*c)[2] != 0)
    return std::nullopt;
  if (isa<ErfOp>(curve))
    return isClose((*c)[1], rootHalf, element, rootRoundings) && (*c)[3] == 0
               ? std::optional(GeluForm::Erf)
               : std::nullopt;
  if (isClose((*c)[1], rootTwoOverPi, element, rootRoundings) &&
      isClose((*c)[3], rootTwoOverPi * 0.044715, element, rootRoundings + 1))
    return GeluForm::Tanh;
  return std::nullopt;
}

/// x · (1 + curve(…)) / 2, its factors and the half in any order.
static LogicalResult raiseGelu(MulOp op, PatternRewriter &rewriter) {
  Swallowed swallowed;
  Product product = factorsOf(op.getResult(), swallowed);
  if (product.factors.size() != 2)
    return rewriter.notifyMatchFailure(op, "not a product of two");
  for (auto [x, sum] : {std::pair(product.factors[0], product.factors[1]),
                        std::pair(product.factors[1], product.factors[0])}) {
    Operation *curve = findCurve(sum);
    if (!curve)
      continue;
    Swallowed parts = swallowed;
    std::optional<Polynomial> c = polynomialIn(sum, curve->getResult(0), parts);
    Type element = elementOf(x);
    if (!c || (*c)[2] != 0 || (*c)[3] != 0 || !isClose(product.scale * (*c)[0], 0.5, element) ||
        !isClose(product.scale * (*c)[1], 0.5, element))
      continue;
    parts.insert(curve);
    std::optional<GeluForm> form = formOf(curve, x, parts);
    if (form && isPrivate(op, parts)) {
      Location loc = fuseLocations(op, parts.getArrayRef());
      rewriter.replaceOp(op, GeluOp::create(rewriter, loc, op.getType(), x, *form));
      return success();
    }
  }
  return rewriter.notifyMatchFailure(op, "not x times a half of one plus a curve");
}

namespace {
struct RaiseGelu : weft::impl::RaiseGeluBase<RaiseGelu> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(raiseGelu);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
