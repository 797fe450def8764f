// What stands on the operands of an attention becomes attributes: scales, repeated key heads, masks
// that tell positions.

#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/ViewChain.h"
#include "passes/Import/AttentionTerms.h"
#include "passes/Import/Patterns.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Scale
//===----------------------------------------------------------------------===//

/// 1/√d, where a scale is that: exporters round it to f32, or split it into two roots, each of a
/// quotient of a root (four roundings). None where what is computed would tell the two apart;
/// narrow types are scaled in f32.
static std::optional<double> usualScale(double scale, AttentionOp op) {
  double exact = 1 / std::sqrt(static_cast<double>(shapeOf(op.getQuery())[3]));
  Type element = elementOf(op.getQuery());
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(op.getContext());
  return isClose(scale, exact, element, /*roundings=*/4) ? std::optional(exact) : std::nullopt;
}

static bool hasScale(Value value) {
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  Operation *op = value.getDefiningOp();
  if (auto mul = dyn_cast_or_null<MulOp>(op))
    return splatNumber(mul.getRhs()) || splatNumber(mul.getLhs());
  auto div = dyn_cast_or_null<DivOp>(op);
  return div && splatNumber(div.getRhs());
}

namespace {
/// A product with a weight of one element, views aside, and the number that it holds.
struct WeightScale {
  MulOp mul;
  unsigned operand = 0; ///< of the product: the weight
  double number = 0;
};

/// Exporters that fold constants put √scale into a weight, by which queries and keys are
/// multiplied. It is told from a parameter by its value.
struct RestoreSplitScale : OpRewritePattern<AttentionOp> {
  RestoreSplitScale(MLIRContext *context, Constants &constants)
      : OpRewritePattern(context), constants(constants) {}

  std::optional<WeightScale> scaleOf(Value value) const {
    while (isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    WeightScale scale{value.getDefiningOp<MulOp>()};
    for (unsigned operand = 0; scale.mul && operand < 2; ++operand) {
      Value factor = scale.mul->getOperand(operand);
      if (auto broadcast = factor.getDefiningOp<BroadcastOp>())
        factor = broadcast.getInput();
      while (isa_and_nonnull<ReshapeOp>(factor.getDefiningOp()))
        factor = factor.getDefiningOp()->getOperand(0);
      auto load = factor.getDefiningOp<LoadOp>();
      if (!load || cast<ShapedType>(load.getType()).getNumElements() != 1)
        continue;
      if (FailureOr<Tensor> known = constants.valueOf(load); succeeded(known)) {
        scale.operand = operand;
        scale.number = storedNumbersOf<double>(*known).front();
        return scale;
      }
    }
    return std::nullopt;
  }

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    std::optional<WeightScale> query = scaleOf(op.getQuery()), key = scaleOf(op.getKey());
    double scale =
        op.getScale().convertToDouble() * (query ? query->number : 0) * (key ? key->number : 0);
    if (scale == 0 || !usualScale(scale, op))
      return rewriter.notifyMatchFailure(op, "no weights that make the usual scale");
    for (WeightScale side : {*query, *key}) {
      auto type = cast<RankedTensorType>(side.mul->getOperand(side.operand).getType());
      rewriter.setInsertionPoint(side.mul);
      Attribute number = rewriter.getFloatAttr(type.getElementType(), side.number);
      Value constant =
          ConstantOp::create(rewriter, side.mul.getLoc(), DenseElementsAttr::get(type, number));
      Operation *mul = side.mul;
      rewriter.modifyOpInPlace(mul, [&] { mul->setOperand(side.operand, constant); });
    }
    return success();
  }
  Constants &constants;
};
} // namespace

static LogicalResult absorbScales(AttentionOp op, PatternRewriter &rewriter) {
  double scale = op.getScale().convertToDouble();
  double snapped = usualScale(scale, op).value_or(scale);
  if (!hasScale(op.getQuery()) && !hasScale(op.getKey())) {
    if (snapped == scale)
      return rewriter.notifyMatchFailure(op, "no scale to absorb");
    rewriter.modifyOpInPlace(op, [&] { op.setScale(APFloat(snapped)); });
    return success();
  }
  MatchedOps matched;
  Scaled query = stripScale(rewriter, op.getQuery(), matched);
  Scaled key = stripScale(rewriter, op.getKey(), matched);
  rewriter.modifyOpInPlace(op, [&] {
    op.getQueryMutable().assign(query.value);
    op.getKeyMutable().assign(key.value);
    double product = scale * query.scale * key.scale;
    op.setScale(APFloat(usualScale(product, op).value_or(product)));
    op->setLoc(fuseLocations(op, matched.getArrayRef()));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Key and value heads
//===----------------------------------------------------------------------===//

namespace {
/// Keys or values whose heads are repeated: the steps that give the same without the repetition.
struct RepeatedHeads {
  BroadcastOp broadcast;
  int64_t repeats = 1;
  SmallVector<ViewChain::Step, 3> steps; ///< from the broadcast's operand to [b, g, t, d]
};
} // namespace

/// The factors of dimensions that a broadcast adds.
static ViewChain::Factors addedFactors(BroadcastOp broadcast, const ViewChain &chain) {
  ViewChain::Factors added;
  for (int64_t dim = 0; dim < rankOf(broadcast.getResult()); ++dim)
    if (!llvm::is_contained(broadcast.getDims(), dim))
      llvm::append_range(added, chain.source()[dim]);
  return added;
}

/// The chain on the broadcast's operand: split into factors, put into the order of the result,
/// joined.
static SmallVector<ViewChain::Step, 3> stepsWithout(BroadcastOp broadcast, const ViewChain &chain,
                                                    ArrayRef<unsigned> added,
                                                    ArrayRef<int64_t> shape) {
  ViewChain::Shape sizes, order;
  SmallVector<unsigned> factors;
  for (const ViewChain::Factors &dim : chain.source())
    for (unsigned factor : dim)
      if (!llvm::is_contained(added, factor)) {
        factors.push_back(factor);
        sizes.push_back(chain.size(factor));
      }
  for (const ViewChain::Factors &dim : chain.result())
    for (unsigned factor : dim)
      if (!llvm::is_contained(added, factor))
        order.push_back(llvm::find(factors, factor) - factors.begin());
  ViewChain rest(shapeOf(broadcast.getInput()));
  rest.reshape(sizes);
  rest.transpose(order);
  rest.reshape(shape);
  return rest.plan();
}

static std::optional<RepeatedHeads> matchRepeatedHeads(Value value) {
  auto found = ViewChain::endingIn(value);
  Value source = found ? found->first : value;
  RepeatedHeads heads;
  heads.broadcast = source.getDefiningOp<BroadcastOp>();
  if (!heads.broadcast || llvm::is_contained(shapeOf(value), 0) ||
      llvm::is_contained(shapeOf(heads.broadcast.getInput()), 1))
    return std::nullopt;
  ViewChain chain = found ? found->second : ViewChain(shapeOf(value));
  ViewChain::Factors added = addedFactors(heads.broadcast, chain);
  // Only heads may be repeated, all heads of a group next to each other.
  auto isAdded = [&](unsigned factor) { return llvm::is_contained(added, factor); };
  for (auto [dim, factors] : llvm::enumerate(chain.result())) {
    size_t own = llvm::find_if(factors, isAdded) - factors.begin();
    for (unsigned factor : ArrayRef<unsigned>(factors).drop_front(own)) {
      if (dim != 1 || !isAdded(factor))
        return std::nullopt;
      heads.repeats *= chain.size(factor);
    }
  }
  if (heads.repeats == 1)
    return std::nullopt;
  SmallVector<int64_t> shape(shapeOf(value));
  shape[1] /= heads.repeats;
  heads.steps = stepsWithout(heads.broadcast, chain, added, shape);
  return heads;
}

/// Keys and values repeated for the heads of a group are read as they are.
static LogicalResult absorbRepeatedHeads(AttentionOp op, PatternRewriter &rewriter) {
  std::optional<RepeatedHeads> key = matchRepeatedHeads(op.getKey());
  std::optional<RepeatedHeads> value = key ? matchRepeatedHeads(op.getValue()) : std::nullopt;
  if (!value || key->repeats != value->repeats)
    return rewriter.notifyMatchFailure(op, "heads of keys and values are not repeated alike");
  auto without = [&](const RepeatedHeads &heads) {
    BroadcastOp broadcast = heads.broadcast;
    return buildViews(rewriter, broadcast.getLoc(), broadcast.getInput(), heads.steps);
  };
  Value keys = without(*key), values = without(*value);
  rewriter.modifyOpInPlace(op, [&] {
    op.getKeyMutable().assign(keys);
    op.getValueMutable().assign(values);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> scoreShape(AttentionOp op) {
  return {shapeOf(op.getQuery())[0], shapeOf(op.getQuery())[1], shapeOf(op.getQuery())[2],
          shapeOf(op.getKey())[2]};
}

/// A mask that tells positions, hides nothing, or is broadcast, is simplified.
static LogicalResult simplifyMask(AttentionOp op, Constants &constants, PatternRewriter &rewriter) {
  if (!op.getMask() || op.getCausal() || op.getWindow())
    return rewriter.notifyMatchFailure(op, "no mask, or positions are known");
  AttentionTerms terms(rewriter, constants, op.getMask().getLoc(), scoreShape(op));
  terms.addMask(ScoreTerm{op.getMask(), {0, 1, 2, 3}});
  if (!terms.isSimplerThan(op.getMask()))
    return rewriter.notifyMatchFailure(op, "the mask has no simpler form");
  Value mask = terms.mask();
  rewriter.modifyOpInPlace(op, [&] {
    op.getMaskMutable().clear();
    if (mask)
      op.getMaskMutable().assign(mask);
    terms.apply(op);
  });
  return success();
}

/// A bias that only masks is a mask.
static LogicalResult biasToMask(AttentionOp op, Constants &constants, PatternRewriter &rewriter) {
  if (!op.getBias() || op.getMask() || op.getCausal() || op.getWindow())
    return rewriter.notifyMatchFailure(op, "no bias, or masked already");
  std::optional<MaskTerm> mask = asMask(constants, {op.getBias(), {0, 1, 2, 3}});
  if (!mask)
    return rewriter.notifyMatchFailure(op, "the bias is not a mask");
  AttentionTerms terms(rewriter, constants, op.getBias().getLoc(), scoreShape(op));
  terms.addMask(*mask);
  Value operand = terms.mask();
  rewriter.modifyOpInPlace(op, [&] {
    op.getBiasMutable().clear();
    if (operand)
      op.getMaskMutable().assign(operand);
    // What a row of -inf gives was said already; one of finite numbers shifts all scores alike.
    if (std::isfinite(mask->least))
      op.setMaskedRows(MaskedRows::Uniform);
    terms.apply(op);
  });
  return success();
}

/// A bias is read where it is not repeated.
static LogicalResult shrinkBias(AttentionOp op, Constants &constants, PatternRewriter &rewriter) {
  if (!op.getBias())
    return rewriter.notifyMatchFailure(op, "no bias");
  ScoreTerm term = withoutBroadcasts({op.getBias(), {0, 1, 2, 3}});
  auto countElements = [](Value value) {
    return cast<ShapedType>(value.getType()).getNumElements();
  };
  if (countElements(term.value) == countElements(op.getBias()))
    return rewriter.notifyMatchFailure(op, "the bias is not repeated");
  AttentionTerms terms(rewriter, constants, op.getBias().getLoc(), scoreShape(op));
  terms.addBias(term);
  Value bias = terms.bias();
  rewriter.modifyOpInPlace(op, [&] { op.getBiasMutable().assign(bias); });
  return success();
}

static LogicalResult simplifyTerms(AttentionOp op, Constants &constants,
                                   PatternRewriter &rewriter) {
  if (succeeded(biasToMask(op, constants, rewriter)) ||
      succeeded(shrinkBias(op, constants, rewriter)))
    return success();
  return simplifyMask(op, constants, rewriter);
}

void weft::populateSimplifyAttention(RewritePatternSet &patterns, Constants &constants) {
  patterns.add(absorbRepeatedHeads).add(absorbScales).add(splitJoinedHeads);
  patterns.add<RestoreSplitScale>(patterns.getContext(), constants);
  addPattern(patterns, constants, simplifyTerms);
}
