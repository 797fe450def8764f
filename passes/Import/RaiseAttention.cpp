// Finds attention in its parts: softmax(scores) · values, scores = f(queries · keys). What stands
// on the operands of an attention, found here or by a frontend, is absorbed in
// SimplifyAttention.cpp.

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/AttentionTerms.h"
#include "passes/Import/MissedRemarks.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include <cmath>

namespace weft {
#define GEN_PASS_DEF_RAISEATTENTION
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// One addition or selection on the scores: exactly one of the two is set.
struct ScoreStep {
  Value added;
  Value visible;
  bool negated = false; ///< `visible` tells what is masked
  double least = 0;     ///< what masked scores become
  double scale = 1;     ///< by which the sum is multiplied; for masks alone
};

/// The way from the softmax back to queries · keys.
struct ScoreChain {
  SmallVector<ScoreStep> steps;
  double scale = 1;
  std::optional<double> softcap;
  DotGeneralOp product;
  MatchedOps matched;
};

struct AttentionMatch {
  DotGeneralOp values; ///< the product of probabilities and values
  SoftmaxOp softmax;
  bool nanToZero = false; ///< rows that are not numbers become 0
  ScoreChain chain;
};
} // namespace

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Whether the value is made of a product by what may stand between it and a softmax.
static bool leadsToProduct(Value value, int depth = 12) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<DotGeneralOp>(op))
    return true;
  if (depth == 0 || !isa_and_nonnull<AddOp, DivOp, MulOp, SelectOp, TanhOp>(op))
    return false;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return leadsToProduct(operand, depth - 1); });
}

/// A number and the other operand of a commutative operation.
static std::optional<std::pair<double, Value>> withNumber(Operation *op) {
  for (auto [number, other] : {std::pair(1, 0), std::pair(0, 1)})
    if (std::optional<double> splat = splatNumber(op->getOperand(number)))
      return std::pair(*splat, op->getOperand(other));
  return std::nullopt;
}

/// Strips one addition or selection; the value before it, or null.
static Value stripStep(Operation *op, ScoreChain &chain) {
  if (auto add = dyn_cast<AddOp>(op)) {
    Value scores = leadsToProduct(add.getLhs()) ? add.getLhs() : add.getRhs();
    chain.steps.push_back({scores == add.getLhs() ? add.getRhs() : add.getLhs(), {}});
    return scores;
  }
  auto select = cast<SelectOp>(op);
  for (auto [least, scores, negated] : {std::tuple(select.getOnFalse(), select.getOnTrue(), false),
                                        std::tuple(select.getOnTrue(), select.getOnFalse(), true)})
    if (std::optional<double> number = splatNumber(least); number && *number <= hiddenBelow) {
      chain.steps.push_back({{}, select.getCondition(), negated, *number});
      return scores;
    }
  return {};
}

/// Strips a scale or a soft-cap, within which nothing may be added.
static Value stripScaling(Operation *op, ScoreChain &chain) {
  if (auto div = dyn_cast<DivOp>(op)) {
    std::optional<double> divisor = splatNumber(div.getRhs());
    if (divisor)
      chain.scale /= *divisor;
    return divisor ? div.getLhs() : Value();
  }
  auto pair = isa<MulOp>(op) ? withNumber(op) : std::nullopt;
  if (!pair)
    return {};
  auto [number, other] = *pair;
  if (auto tanh = other.getDefiningOp<TanhOp>();
      tanh && number > 0 && chain.scale == 1 && !chain.softcap) {
    chain.softcap = number;
    chain.scale = number;
    chain.matched.insert(tanh);
    return tanh.getInput();
  }
  chain.scale *= number;
  return other;
}

/// Follows scores back to queries · keys: why they do not lead there, or "".
static std::string matchScores(Value value, ScoreChain &chain) {
  while (Operation *op = value.getDefiningOp()) {
    if ((chain.product = dyn_cast<DotGeneralOp>(op))) {
      chain.matched.insert(op);
      return "";
    }
    Value next;
    if (!chain.softcap && chain.scale > 0 && isa<AddOp, SelectOp>(op)) {
      next = stripStep(op, chain);
      if (next)
        chain.steps.back().scale = chain.scale;
    }
    if (isa<DivOp, MulOp>(op))
      next = stripScaling(op, chain);
    if (!next)
      break;
    chain.matched.insert(op);
    value = next;
  }
  return "between softmax and the product of queries and keys stands " + describe(value) +
         ", which is no scale, mask, bias or soft-cap";
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// Why the scores are not [batch…, s, t] with one or two batch dimensions, contracted over one; ""
/// if they are.
static std::string whyNoScoreProduct(DotGeneralOp op) {
  int64_t batches = op.getLhsBatch().size();
  if (batches != 1 && batches != 2)
    return "the product of queries and keys has " + std::to_string(batches) +
           " batch dimensions, not one or two";
  bool isPlain = op.getLhsContract().size() == 1 && rankOf(op.getLhs()) == batches + 2 &&
                 rankOf(op.getRhs()) == batches + 2;
  return isPlain ? "" : "queries or keys have more than one dimension of positions or of features";
}

/// Why probabilities and values are not contracted over the keys, or do not share all batch
/// dimensions; "" if they are and do.
static std::string whyNoValueProduct(DotGeneralOp op, int64_t batches) {
  if (op.getLhsContract() != ArrayRef<int64_t>{batches + 1})
    return "probabilities and values are not multiplied along the keys";
  if (static_cast<int64_t>(op.getLhsBatch().size()) != batches ||
      !llvm::all_of(op.getLhsBatch(), [&](int64_t dim) { return dim < batches; }))
    return "probabilities and values do not share the batch dimensions of queries and keys";
  return rankOf(op.getRhs()) == batches + 2 ? ""
                                            : "values have more than one dimension of features";
}

/// What is chosen where probabilities are numbers, if zeros are chosen elsewhere.
static Value stripNanToZero(Value probabilities, AttentionMatch &match) {
  auto select = probabilities.getDefiningOp<SelectOp>();
  auto test = select ? select.getCondition().getDefiningOp<IsNanOp>() : IsNanOp();
  if (!test || test.getInput() != select.getOnFalse() || splatNumber(select.getOnTrue()) != 0.0)
    return probabilities;
  match.nanToZero = true;
  match.chain.matched.insert(select);
  match.chain.matched.insert(test);
  return select.getOnFalse();
}

/// The softmax that becomes probabilities by conversions, products, views and choices; null if
/// there is none near.
static SoftmaxOp findSoftmax(Value value, int depth = 4) {
  Operation *op = value.getDefiningOp();
  if (auto softmax = dyn_cast_or_null<SoftmaxOp>(op))
    return softmax;
  if (depth > 0 && isa_and_nonnull<CastOp, MulOp, ReshapeOp, SelectOp, TransposeOp>(op))
    for (Value operand : op->getOperands())
      if (SoftmaxOp found = findSoftmax(operand, depth - 1))
        return found;
  return {};
}

static constexpr char behindSoftmax[] = "between softmax and the product with values stands ";

/// Why a product with what softmax becomes is no attention, or ""; fills in `match`, which has
/// both.
static std::string matchAttention(AttentionMatch &match) {
  Value probabilities = stripNanToZero(match.values.getLhs(), match);
  if (probabilities != match.softmax.getResult())
    return behindSoftmax + describe(probabilities);
  match.chain.matched.insert(match.softmax);
  if (std::string why = matchScores(match.softmax.getInput(), match.chain); !why.empty())
    return why;
  if (std::string why = whyNoScoreProduct(match.chain.product); !why.empty())
    return why;
  int64_t batches = match.chain.product.getLhsBatch().size(), axis = match.softmax.getAxis();
  if (axis != batches + 1)
    return "softmax is over dimension " + std::to_string(axis) +
           " of the scores, not over the keys, dimension " + std::to_string(batches + 1);
  if (std::string why = whyNoValueProduct(match.values, batches); !why.empty())
    return why;
  return describeOutsideUse(match.values, match.chain.matched);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// An operand as [b, h, ?, ?]: its batch dimensions as given, then two others; without heads, one
/// is added.
static Value arrange(PatternRewriter &rewriter, Value value, ArrayRef<int64_t> batch, int64_t third,
                     int64_t fourth) {
  SmallVector<int64_t> order(batch);
  order.append({third, fourth});
  Value result = rewriter.createOrFold<TransposeOp>(value.getLoc(), value, order);
  if (order.size() == 4)
    return result;
  ArrayRef<int64_t> shape = shapeOf(result);
  auto type = RankedTensorType::get({shape[0], 1, shape[1], shape[2]}, elementOf(value));
  return rewriter.createOrFold<ReshapeOp>(value.getLoc(), type, result);
}

/// The dimension of a product's operand that is neither batch nor contracted.
static int64_t freeDim(int64_t rank, ArrayRef<int64_t> batch, int64_t contract) {
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != contract && !llvm::is_contained(batch, dim))
      return dim;
  return -1;
}

/// The mask that a step is, if it is one.
static std::optional<MaskTerm> maskOf(const ScoreStep &step, Constants &constants, Dims dims) {
  if (step.added)
    return asMask(constants, {step.added, dims});
  return MaskTerm{{step.visible, dims}, step.negated, std::nullopt, step.least};
}

/// What a step adds to the scores, written out.
static Value addedBy(PatternRewriter &rewriter, const ScoreStep &step, Type element) {
  if (step.added)
    return step.added;
  Location loc = step.visible.getLoc();
  auto type = RankedTensorType::get(shapeOf(step.visible), element);
  auto splat = [&](double number) {
    auto attribute = DenseElementsAttr::get(type, rewriter.getFloatAttr(element, number));
    return ConstantOp::create(rewriter, loc, attribute);
  };
  Value zero = splat(0), least = splat(step.least);
  return SelectOp::create(rewriter, loc, type, step.visible, step.negated ? least : zero,
                          step.negated ? zero : least);
}

namespace {
/// The masks among the steps, and what fully masked rows give. Several masks are one only if all
/// are -inf: finite ones add up to something else on rows that are masked by more than one, and
/// stay biases.
struct SortedSteps {
  SmallVector<std::pair<const ScoreStep *, MaskTerm>> masks;
  SmallVector<const ScoreStep *> biases;
  MaskedRows rows;
};
} // namespace

static SortedSteps sortSteps(const AttentionMatch &match, Constants &constants, const Dims &dims) {
  SortedSteps sorted;
  for (const ScoreStep &step : match.chain.steps) {
    std::optional<MaskTerm> mask = maskOf(step, constants, dims);
    if (mask && (mask->least *= step.scale) <= (step.added ? lostBelow : hiddenBelow))
      sorted.masks.push_back({&step, *mask});
    else
      sorted.biases.push_back(&step);
  }
  bool finite =
      llvm::any_of(sorted.masks, [](const auto &mask) { return std::isfinite(mask.second.least); });
  sorted.rows = finite ? MaskedRows::Uniform : match.nanToZero ? MaskedRows::Zero : MaskedRows::Nan;
  bool replaces = llvm::all_of(sorted.masks, [&](const auto &mask) {
    return !mask.first->added && mask.second.least == sorted.masks.front().second.least;
  });
  if (finite && !replaces && sorted.masks.size() > 1) {
    for (const auto &[step, mask] : sorted.masks)
      sorted.biases.push_back(step);
    sorted.masks.clear();
    sorted.rows = MaskedRows::Nan;
  }
  return sorted;
}

/// Why the operation would not give what was there on every row, or "": biases must not be scaled,
/// and where rows that are no numbers become zeros another rule than that must leave no such row to
/// the biases.
static std::string whyOtherRows(const AttentionMatch &match, const SortedSteps &sorted,
                                Constants &constants) {
  bool hasRule = !match.nanToZero || sorted.rows == MaskedRows::Zero;
  for (const ScoreStep *step : sorted.biases) {
    std::string what = describe(step->added ? step->added : step->visible);
    if (step->scale != 1)
      return what + " is put on the scores before they are scaled";
    if (step->visible && step->least > lostBelow)
      return "masks add up, and " + what + " hides by " + describeNumber(step->least) +
             ", which does not swallow a score";
    if (!hasRule && !(step->added ? isFinite(constants, step->added) : std::isfinite(step->least)))
      return "rows that " + what + " masks become zeros, those that other masks hide do not";
  }
  return "";
}

namespace {
/// The operands in attention's order of dimensions, and how its result becomes that of the second
/// product.
struct ArrangedOperands {
  Value query, key, value;
  bool swapBatch = false; ///< the second product has the two batch dimensions the other way round

  SmallVector<int64_t> scoreShape() const {
    return {shapeOf(query)[0], shapeOf(query)[1], shapeOf(query)[2], shapeOf(key)[2]};
  }
};
} // namespace

static ArrangedOperands arrangeOperands(PatternRewriter &rewriter, DotGeneralOp scores,
                                        DotGeneralOp values) {
  ArrayRef<int64_t> batch = scores.getLhsBatch(), keyBatch = scores.getRhsBatch();
  int64_t depth = scores.getLhsContract()[0], keyDepth = scores.getRhsContract()[0];
  int64_t batches = batch.size();
  // Batch dimensions of the second product come in its own order.
  SmallVector<int64_t> valueBatch(batches);
  for (auto [left, right] : llvm::zip(values.getLhsBatch(), values.getRhsBatch()))
    valueBatch[left] = right;
  int64_t keys = values.getRhsContract()[0];
  int64_t query = freeDim(batches + 2, batch, depth),
          key = freeDim(batches + 2, keyBatch, keyDepth),
          width = freeDim(batches + 2, valueBatch, keys);
  return {arrange(rewriter, scores.getLhs(), batch, query, depth),
          arrange(rewriter, scores.getRhs(), keyBatch, key, keyDepth),
          arrange(rewriter, values.getRhs(), valueBatch, keys, width),
          !llvm::is_sorted(values.getLhsBatch())};
}

static LogicalResult raiseAttention(DotGeneralOp op, RaisingContext &raising,
                                    PatternRewriter &rewriter) {
  AttentionMatch match{op, findSoftmax(op.getLhs()), false, {}};
  if (!match.softmax && findSoftmax(op.getRhs()))
    return raising.missedRemarks.note(op, "attention", behindSoftmax + describe(op.getRhs()));
  if (!match.softmax || !isa<FloatType>(elementOf(op.getLhs())))
    return rewriter.notifyMatchFailure(op, "not a product with probabilities");
  if (std::string why = matchAttention(match); !why.empty())
    return raising.missedRemarks.note(op, "attention", why);
  Constants &constants = raising.constants;
  bool hasHeads = op.getLhsBatch().size() == 2;
  Dims dims = {0, 2, 3};
  if (hasHeads)
    dims.insert(dims.begin() + 1, 1);
  SortedSteps steps = sortSteps(match, constants, dims);
  if (std::string why = whyOtherRows(match, steps, constants); !why.empty())
    return raising.missedRemarks.note(op, "attention", why);
  ArrangedOperands operands = arrangeOperands(rewriter, match.chain.product, op);
  SmallVector<int64_t> shape = operands.scoreShape();
  Location loc = fuseLocations(op, match.chain.matched.getArrayRef());
  AttentionTerms terms(rewriter, constants, loc, shape);
  for (const auto &[step, mask] : steps.masks)
    terms.addMask(mask);
  Type element = elementOf(match.softmax.getInput());
  for (const ScoreStep *step : steps.biases)
    terms.addBias(withoutBroadcasts({addedBy(rewriter, *step, element), dims}));
  auto type = RankedTensorType::get({shape[0], shape[1], shape[2], shapeOf(operands.value)[3]},
                                    elementOf(operands.query));
  FloatAttr softcap =
      match.chain.softcap ? rewriter.getF64FloatAttr(*match.chain.softcap) : FloatAttr();
  auto attention = AttentionOp::create(
      rewriter, loc, type, /*lse=*/Type(), operands.query, operands.key, operands.value,
      terms.mask(), terms.bias(), APFloat(match.chain.scale), /*causal=*/false,
      /*query_offset=*/0, /*window=*/IntegerAttr(), softcap, steps.rows);
  terms.apply(attention);
  Value result = attention.getResult();
  if (!hasHeads)
    result = ReshapeOp::create(rewriter, loc, op.getType(), result);
  else if (operands.swapBatch)
    result = TransposeOp::create(rewriter, loc, result, ArrayRef<int64_t>{1, 0, 2, 3});
  rewriter.replaceOp(op, result);
  return success();
}

/// values · probabilities is the transpose of probabilities · values.
static LogicalResult probabilitiesFirst(DotGeneralOp op, PatternRewriter &rewriter) {
  auto softmax = op.getRhs().getDefiningOp<SoftmaxOp>();
  if (!softmax || op.getLhs().getDefiningOp<SoftmaxOp>() || rankOf(op.getResult()) < 2)
    return rewriter.notifyMatchFailure(op, "probabilities are not the right operand alone");
  auto swapped =
      DotGeneralOp::create(rewriter, op.getLoc(), op.getRhs(), op.getLhs(), op.getRhsBatch(),
                           op.getLhsBatch(), op.getRhsContract(), op.getLhsContract());
  int64_t batches = op.getLhsBatch().size(), rank = rankOf(op.getResult());
  int64_t left = rankOf(op.getLhs()) - batches - op.getLhsContract().size();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  llvm::append_range(order, llvm::seq<int64_t>(rank - left, rank));
  llvm::append_range(order, llvm::seq<int64_t>(batches, rank - left));
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), swapped, order);
  return success();
}

namespace {
struct RaiseAttention : weft::impl::RaiseAttentionBase<RaiseAttention> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    RaisingContext raising(getOperation());
    patterns.add(probabilitiesFirst);
    addPattern(patterns, raising, raiseAttention);
    populateSimplifyAttention(patterns, raising.constants);
    populateCanonicalization(patterns);
    if (failed(rewriteAndReport(*this, getOperation(), std::move(patterns), raising.missedRemarks)))
      signalPassFailure();
  }
};
} // namespace
