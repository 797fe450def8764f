#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Match.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_RAISEROTARY
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// What a slice of the last dimension takes from: `start` and the source; null if `value` is
/// another slice.
static Value slicedLast(Value value, int64_t &start) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice)
    return {};
  int64_t last = rankOf(value) - 1;
  for (int64_t dim = 0; dim <= last; ++dim)
    if (slice.getStrides()[dim] != 1 ||
        (dim < last && shapeOf(value)[dim] != shapeOf(slice.getInput())[dim]))
      return {};
  start = slice.getStarts()[last];
  return slice.getInput();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The first halves of the rows of a known table, if the second halves are the same.
static std::optional<Tensor> equalHalves(const Tensor &table) {
  std::vector<double> numbers = numbersOf<double>(table), first;
  int64_t width = table.shape().back();
  for (size_t row = 0; row < numbers.size(); row += width)
    for (int64_t i = 0; i < width / 2; ++i) {
      if (numbers[row + i] != numbers[row + i + width / 2])
        return std::nullopt;
      first.push_back(numbers[row + i]);
    }
  SmallVector<int64_t> shape(table.shape());
  shape.back() /= 2;
  return tensorOf(RankedTensorType::get(shape, table.type().getElementType()), first);
}

/// concat(x, x) along the last dimension.
static bool isDoubled(ConcatOp concat) {
  return concat && concat.getInputs().size() == 2 &&
         concat.getInputs()[0] == concat.getInputs()[1] &&
         static_cast<int64_t>(concat.getAxis()) == rankOf(concat.getResult()) - 1;
}

/// Whether the rows of a table surely hold everything twice.
static bool hasEqualHalves(Value table, int depth = 8) {
  if (shapeOf(table).empty() || shapeOf(table).back() % 2 != 0 || depth == 0)
    return false;
  if (splatNumber(table) || isDoubled(table.getDefiningOp<ConcatOp>()))
    return true;
  if (FailureOr<Tensor> known = knownValue(table); succeeded(known))
    return equalHalves(*known).has_value();
  Operation *op = table.getDefiningOp();
  return op && op->hasTrait<OpTrait::Elementwise>() &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return hasEqualHalves(operand, depth - 1); });
}

/// Such a table without the second halves.
static Value firstHalf(OpBuilder &builder, Value table, StringRef name) {
  if (auto concat = table.getDefiningOp<ConcatOp>(); isDoubled(concat))
    return concat.getInputs()[0];
  if (FailureOr<Tensor> known = knownValue(table); succeeded(known))
    return createConstant(builder, table.getLoc(), *equalHalves(*known), name);
  Operation *op = table.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(firstHalf(builder, operand, name));
  Type type = RankedTensorType::get(shapeOf(operands[0]), elementOf(table));
  return cloneWithTypes(builder, op, operands, type).front();
}

//===----------------------------------------------------------------------===//
// x·cos + rotated(x)·sin
//===----------------------------------------------------------------------===//

/// x, if `value` is concat(-second half of x, first half of x) along the last dimension.
static Value rotatedHalves(Value value, Swallowed &swallowed) {
  auto concat = value.getDefiningOp<ConcatOp>();
  if (!concat || concat.getInputs().size() != 2 ||
      static_cast<int64_t>(concat.getAxis()) != rankOf(value) - 1)
    return {};
  auto neg = concat.getInputs()[0].getDefiningOp<NegOp>();
  int64_t first = -1, second = -1, width = shapeOf(value).back();
  Value low = slicedLast(concat.getInputs()[1], first);
  Value high = neg ? slicedLast(neg.getInput(), second) : Value();
  if (!low || low != high || first != 0 || second != width / 2 || shapeOf(low).back() != width ||
      shapeOf(concat.getInputs()[1]).back() != width / 2)
    return {};
  swallowed.insert(concat);
  swallowed.insert(neg);
  return low;
}

namespace {
struct RotaryParts {
  Value x;
  BroadcastOp cos, sin;
};
} // namespace

/// A product of some value and a broadcast.
static std::pair<Value, BroadcastOp> timesBroadcast(Value value, bool swap) {
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul)
    return {};
  Value other = swap ? mul.getRhs() : mul.getLhs();
  return {other, (swap ? mul.getLhs() : mul.getRhs()).getDefiningOp<BroadcastOp>()};
}

static std::optional<RotaryParts> matchRotary(AddOp op, Swallowed &swallowed) {
  for (bool swapTerms : {false, true})
    for (bool swapCos : {false, true})
      for (bool swapSin : {false, true}) {
        auto [x, cos] = timesBroadcast(swapTerms ? op.getRhs() : op.getLhs(), swapCos);
        auto [turned, sin] = timesBroadcast(swapTerms ? op.getLhs() : op.getRhs(), swapSin);
        if (!cos || !sin || cos.getDims() != sin.getDims() || rotatedHalves(turned, swallowed) != x)
          continue;
        swallowed.insert(op.getLhs().getDefiningOp());
        swallowed.insert(op.getRhs().getDefiningOp());
        return RotaryParts{x, cos, sin};
      }
  return std::nullopt;
}

/// The dimension of positions among [b, h, s, d] or [b, s, h, d], from the dimensions of a table; 0
/// if it is neither.
static int64_t positionDim(BroadcastOp table, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> dims = table.getDims();
  if (shape.size() != 4 || dims.empty() || dims.back() != 3)
    return 0;
  dims = dims.drop_back();
  if (!dims.empty() && dims.front() == 0)
    dims = dims.drop_front();
  if (dims.size() == 1)
    return dims.front();
  if (!dims.empty())
    return 0;
  return shape[2] == 1 ? 2 : shape[1] == 1 ? 1 : 0;
}

/// The table as [b or 1, s, r/2].
static Value tableOperand(OpBuilder &builder, BroadcastOp table, Value half,
                          ArrayRef<int64_t> shape, int64_t positions) {
  bool perBatch = !table.getDims().empty() && table.getDims().front() == 0;
  SmallVector<int64_t> sizes = {perBatch ? shape[0] : 1, shape[positions], shapeOf(half).back()};
  auto type = RankedTensorType::get(sizes, elementOf(half));
  return builder.createOrFold<ReshapeOp>(half.getLoc(), type, half);
}

static LogicalResult raiseRotary(AddOp op, PatternRewriter &rewriter) {
  Swallowed swallowed;
  std::optional<RotaryParts> parts = matchRotary(op, swallowed);
  int64_t positions = parts ? positionDim(parts->cos, shapeOf(op.getResult())) : 0;
  if (positions == 0)
    return rewriter.notifyMatchFailure(op, "not x times cos plus rotated x times sin");
  if (!hasEqualHalves(parts->cos.getInput()) || !hasEqualHalves(parts->sin.getInput()))
    return rewriter.notifyMatchFailure(op, "pairs do not share an angle");
  Value cos = firstHalf(rewriter, parts->cos.getInput(), "rotary_cos");
  Value sin = firstHalf(rewriter, parts->sin.getInput(), "rotary_sin");
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  cos = tableOperand(rewriter, parts->cos, cos, shape, positions);
  sin = tableOperand(rewriter, parts->sin, sin, shape, positions);
  Location loc = fuseLocations(op, swallowed.getArrayRef());
  SmallVector<int64_t> swap = {0, 2, 1, 3};
  Value x = parts->x;
  if (positions == 1)
    x = TransposeOp::create(rewriter, x.getLoc(), x, swap);
  Value result = RotaryOp::create(rewriter, loc, x.getType(), x, cos, sin, UnitAttr());
  if (positions == 1)
    result = TransposeOp::create(rewriter, loc, result, swap);
  rewriter.replaceOp(op, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Partial rotation
//===----------------------------------------------------------------------===//

/// concat(rotary(first elements of x), other elements of x) is rotary(x).
static LogicalResult extendRotary(ConcatOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 2 ||
      static_cast<int64_t>(op.getAxis()) != rankOf(op.getResult()) - 1)
    return rewriter.notifyMatchFailure(op, "not two parts of rows");
  auto rotary = op.getInputs()[0].getDefiningOp<RotaryOp>();
  int64_t first = -1, second = -1;
  Value low = rotary ? slicedLast(rotary.getInput(), first) : Value();
  Value high = slicedLast(op.getInputs()[1], second);
  if (!low || low != high || first != 0 || second != shapeOf(rotary.getInput()).back() ||
      shapeOf(op.getResult()) != shapeOf(low) || rotary.getInterleaved())
    return rewriter.notifyMatchFailure(op, "not a rotated and an unchanged part of one value");
  Location loc = fuseLocations(op, {rotary});
  rewriter.replaceOp(op, RotaryOp::create(rewriter, loc, low.getType(), low, rotary.getCos(),
                                          rotary.getSin(), UnitAttr()));
  return success();
}

namespace {
struct RaiseRotary : weft::impl::RaiseRotaryBase<RaiseRotary> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(extendRotary).add(raiseRotary);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
