#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Match.h"
#include "passes/Import/MissedRemarks.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

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

/// `0.5·x + 0.1·x³`
static std::string describePolynomial(const Polynomial &c) {
  static const char *const powers[] = {"", "·x", "·x²", "·x³"};
  std::string text;
  for (auto [number, power] : llvm::zip_equal(c, powers))
    if (number != 0)
      text += (text.empty() ? "" : " + ") + describeNumber(number) + power;
  return text;
}

/// The form of gelu in which the curve's operand is x/√2 (erf) or √(2/π)·(x + 0.044715·x³) (tanh).
static std::optional<GeluForm> formOf(Operation *curve, const Polynomial &c, Type element) {
  constexpr double rootHalf = 0.70710678118654752, rootTwoOverPi = 0.79788456080286536;
  constexpr int rootRoundings = 2; // of the quotient, or π, and of its root
  if (c[0] != 0 || c[2] != 0)
    return std::nullopt;
  if (isa<ErfOp>(curve))
    return isClose(c[1], rootHalf, element, rootRoundings) && c[3] == 0
               ? std::optional(GeluForm::Erf)
               : std::nullopt;
  if (isClose(c[1], rootTwoOverPi, element, rootRoundings) &&
      isClose(c[3], rootTwoOverPi * 0.044715, element, rootRoundings + 1))
    return GeluForm::Tanh;
  return std::nullopt;
}

/// Whether a product is only read to be multiplied by a number.
static bool isScaled(MulOp op) {
  if (!op->hasOneUse() || !isa<DivOp, MulOp>(*op->user_begin()))
    return false;
  return llvm::any_of(op->user_begin()->getOperands(),
                      [](Value operand) { return splatNumber(operand).has_value(); });
}

/// x times `sum` times `scale`, where `sum` is of a curve: raised if it is gelu.
static LogicalResult raiseProduct(MulOp op, Value x, Value sum, double scale, MatchedOps matched,
                                  MissedRemarks &missedRemarks, PatternRewriter &rewriter) {
  Operation *curve = findCurve(sum);
  std::optional<Polynomial> outer, inner;
  if (curve)
    outer = polynomialIn(sum, curve->getResult(0), matched);
  if (outer)
    inner = polynomialIn(curve->getOperand(0), x, matched);
  if (!inner || (*inner)[1] == 0 || (*outer)[0] == 0 || (*outer)[1] == 0)
    return rewriter.notifyMatchFailure(op, "not x times a number plus a curve of x");
  matched.insert(curve);
  for (double &coefficient : *outer)
    coefficient *= scale;
  Type element = elementOf(x);
  bool isHalf = (*outer)[2] == 0 && (*outer)[3] == 0 && isClose((*outer)[0], 0.5, element) &&
                isClose((*outer)[1], 0.5, element);
  if (!isHalf && isScaled(op))
    return rewriter.notifyMatchFailure(op, "the half may follow");
  if (!isHalf)
    return missedRemarks.note(op, "gelu",
                              "x is multiplied by " + describeNumber((*outer)[0]) + " + " +
                                  describeNumber((*outer)[1]) + "·" + describe(curve) +
                                  ", not by halves");
  std::optional<GeluForm> form = formOf(curve, *inner, element);
  if (!form)
    return missedRemarks.note(
        op, "gelu",
        describe(curve) + " is of " + describePolynomial(*inner) +
            (isa<ErfOp>(curve) ? ", not of x/√2" : ", not of √(2/π)·(x + 0.044715·x³)"));
  if (std::string why = describeOutsideUse(op, matched); !why.empty())
    return missedRemarks.note(op, "gelu", why);
  Location loc = fuseLocations(op, matched.getArrayRef());
  rewriter.replaceOp(op, GeluOp::create(rewriter, loc, op.getType(), x, *form));
  return success();
}

/// x · (1 + curve(…)) / 2, its factors and the half in any order.
static LogicalResult raiseGelu(MulOp op, MissedRemarks &missedRemarks, PatternRewriter &rewriter) {
  MatchedOps matched;
  Product product = factorsOf(op.getResult(), matched);
  if (product.factors.size() != 2)
    return rewriter.notifyMatchFailure(op, "not a product of two");
  auto [left, right] = std::pair(product.factors[0], product.factors[1]);
  if (succeeded(raiseProduct(op, left, right, product.scale, matched, missedRemarks, rewriter)))
    return success();
  return raiseProduct(op, right, left, product.scale, matched, missedRemarks, rewriter);
}

namespace {
struct RaiseGelu : weft::impl::RaiseGeluBase<RaiseGelu> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MissedRemarks missedRemarks;
    addPattern(patterns, missedRemarks, raiseGelu);
    if (failed(rewriteAndReport(*this, getOperation(), std::move(patterns), missedRemarks)))
      signalPassFailure();
  }
};
} // namespace
