// What exporters write in several ways, in one: canonical forms that only models from outside need.
//
//   - a negated comparison is the opposite one, choices are made where things are equal;
//   - sums of integers have the width that is read;
//   - what was cut into parts and joined again was not cut;
//   - a part that a mask puts in its place is joined to what is beside it;
//   - sums and products have what is repeated on the right.

#include "passes/Import/Patterns.h"

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// The comparison that holds where `direction` does not; none for an order of floats, among which
/// not-a-number is neither less nor greater.
static std::optional<CompareDirection> opposite(CompareDirection direction, Type element) {
  switch (direction) {
  case CompareDirection::EQ:
    return CompareDirection::NE;
  case CompareDirection::NE:
    return CompareDirection::EQ;
  default:
    break;
  }
  if (isa<FloatType>(element))
    return std::nullopt;
  switch (direction) {
  case CompareDirection::LT:
    return CompareDirection::GE;
  case CompareDirection::LE:
    return CompareDirection::GT;
  case CompareDirection::GT:
    return CompareDirection::LE;
  default:
    return CompareDirection::LT;
  }
}

static LogicalResult negateComparison(NotOp op, PatternRewriter &rewriter) {
  auto compare = op.getInput().getDefiningOp<CompareOp>();
  auto direction =
      compare ? opposite(compare.getDirection(), elementOf(compare.getLhs())) : std::nullopt;
  if (!direction)
    return rewriter.notifyMatchFailure(op, "operand is not a comparison with an opposite");
  rewriter.replaceOpWithNewOp<CompareOp>(op, *direction, compare.getLhs(), compare.getRhs());
  return success();
}

/// select(a ne b, x, y) is select(a eq b, y, x).
static LogicalResult selectWhereEqual(SelectOp op, PatternRewriter &rewriter) {
  auto compare = op.getCondition().getDefiningOp<CompareOp>();
  if (!compare || compare.getDirection() != CompareDirection::NE)
    return rewriter.notifyMatchFailure(op, "condition does not test inequality");
  Value equal = CompareOp::create(rewriter, compare.getLoc(), CompareDirection::EQ,
                                  compare.getLhs(), compare.getRhs());
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), equal, op.getOnFalse(), op.getOnTrue());
  return success();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Running sums of integers of which only the low bits are read are sums of those bits.
static LogicalResult narrowCumsum(CastOp op, PatternRewriter &rewriter) {
  auto sums = op.getInput().getDefiningOp<CumsumOp>();
  auto from = dyn_cast<IntegerType>(elementOf(op.getInput()));
  auto to = dyn_cast<IntegerType>(elementOf(op.getResult()));
  if (!sums || !sums->hasOneUse() || !from || !to || to.getWidth() == 1 ||
      to.getWidth() > from.getWidth())
    return rewriter.notifyMatchFailure(op, "operand is not a running sum of more bits");
  Value narrow = CastOp::create(rewriter, op.getLoc(), op.getType(), sums.getInput());
  rewriter.replaceOpWithNewOp<CumsumOp>(op, narrow, sums.getAxis(), sums.getExclusive(),
                                        sums.getReverse());
  return success();
}

/// Integers that were widened on the way have their own low bits.
static LogicalResult mergeIntegerCasts(CastOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<CastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a cast");
  auto source = dyn_cast<IntegerType>(elementOf(inner.getInput()));
  auto middle = dyn_cast<IntegerType>(elementOf(op.getInput()));
  auto result = dyn_cast<IntegerType>(elementOf(op.getResult()));
  if (!source || !middle || !result || result.getWidth() == 1 ||
      source.getWidth() > middle.getWidth() || result.getWidth() > middle.getWidth())
    return rewriter.notifyMatchFailure(op, "bits are lost on the way");
  rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), inner.getInput());
  return success();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// One slice instead of two that take what lies side by side along `axis`; null where they do not.
static Value joinSlices(Value left, Value right, int64_t axis, PatternRewriter &rewriter) {
  auto first = left.getDefiningOp<SliceOp>(), second = right.getDefiningOp<SliceOp>();
  if (!first || !second || first.getInput() != second.getInput() ||
      first.getStrides() != second.getStrides())
    return {};
  SmallVector<int64_t> ends(first.getStarts()), shape(shapeOf(left));
  ends[axis] += shape[axis] * first.getStrides()[axis];
  if (ArrayRef<int64_t>(ends) != second.getStarts())
    return {};
  shape[axis] += shapeOf(right)[axis];
  auto type = RankedTensorType::get(shape, elementOf(left));
  return SliceOp::create(rewriter, left.getLoc(), type, first.getInput(), first.getStarts(),
                         first.getStrides());
}

/// Slices that lie side by side are joined again.
static LogicalResult mergeSlicedInputs(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    Value joined =
        inputs.empty() ? Value() : joinSlices(inputs.back(), input, op.getAxis(), rewriter);
    if (joined)
      inputs.back() = joined;
    else
      inputs.push_back(input);
  }
  if (inputs.size() == op.getInputs().size())
    return rewriter.notifyMatchFailure(op, "no slices lie side by side");
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), inputs, op.getAxis());
  return success();
}

/// The only position along `dim` at which a known mask, which depends on nothing else, holds.
static std::optional<int64_t> findOnlyPlace(Value mask, int64_t &dim) {
  auto repeated = mask.getDefiningOp<BroadcastOp>();
  auto constant = repeated ? repeated.getInput().getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant || repeated.getDims().size() != 1 || isa<SplatElementsAttr>(constant.getValue()))
    return std::nullopt;
  dim = repeated.getDims().front();
  std::optional<int64_t> place;
  for (auto [index, holds] : llvm::enumerate(constant.getValue().getValues<bool>()))
    if (holds && place)
      return std::nullopt;
    else if (holds)
      place = index;
  return place;
}

/// select(mask, repeat(x), y), where the mask holds at one place along the dimension along which x
/// is repeated (decompositions write select_scatter so), is y with x in that place.
static LogicalResult joinMaskedPart(SelectOp op, PatternRewriter &rewriter) {
  int64_t dim = 0;
  std::optional<int64_t> place = findOnlyPlace(op.getCondition(), dim);
  auto part = op.getOnTrue().getDefiningOp<BroadcastOp>();
  if (!place || !part)
    return rewriter.notifyMatchFailure(op, "no mask of one place");
  SmallVector<int64_t> shape(shapeOf(op.getResult())), dims;
  for (int64_t other = 0; other < rankOf(op.getResult()); ++other)
    if (other != dim)
      dims.push_back(other);
  SmallVector<int64_t> inner = shape, starts(shape.size(), 0), strides(shape.size(), 1);
  inner.erase(inner.begin() + dim);
  if (part.getDims() != ArrayRef<int64_t>(dims) ||
      shapeOf(part.getInput()) != ArrayRef<int64_t>(inner))
    return rewriter.notifyMatchFailure(op, "what is put differs along the mask");
  int64_t extent = shape[dim];
  SmallVector<Value> parts;
  auto addSlice = [&](int64_t from, int64_t to) {
    starts[dim] = from;
    shape[dim] = to - from;
    if (from < to)
      parts.push_back(SliceOp::create(rewriter, op.getLoc(),
                                      RankedTensorType::get(shape, elementOf(op.getResult())),
                                      op.getOnFalse(), starts, strides));
  };
  addSlice(0, *place);
  shape[dim] = 1;
  parts.push_back(ReshapeOp::create(rewriter, op.getLoc(),
                                    RankedTensorType::get(shape, elementOf(op.getResult())),
                                    part.getInput()));
  addSlice(*place + 1, extent);
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), parts, dim);
  return success();
}

//===----------------------------------------------------------------------===//
// Order of operands
//===----------------------------------------------------------------------===//

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

void weft::populateExporterForms(RewritePatternSet &patterns) {
  patterns.add(negateComparison).add(selectWhereEqual);
  patterns.add(narrowCumsum).add(mergeIntegerCasts).add(mergeSlicedInputs).add(joinMaskedPart);
  patterns.add<RepeatedOnTheRight>(patterns.getContext());
}
