#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Constants.h"
#include "passes/Import/Match.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/ViewMap.h"

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
  SmallVector<int64_t> shape(table.shape());
  int64_t width = std::exchange(shape.back(), shape.back() / 2);
  auto type = RankedTensorType::get(shape, table.type().getElementType());
  if (table.isSplat())
    return table.withType(type);
  std::vector<double> numbers = numbersOf<double>(table), first;
  for (size_t row = 0; row < numbers.size(); row += width)
    for (int64_t i = 0; i < width / 2; ++i) {
      if (numbers[row + i] != numbers[row + i + width / 2])
        return std::nullopt;
      first.push_back(numbers[row + i]);
    }
  return tensorOf(type, first);
}

/// concat(x, x) along the last dimension.
static bool isDoubled(ConcatOp concat) {
  return concat && concat.getInputs().size() == 2 &&
         concat.getInputs()[0] == concat.getInputs()[1] &&
         static_cast<int64_t>(concat.getAxis()) == rankOf(concat.getResult()) - 1;
}

/// Whether the rows of a table surely hold everything twice.
static bool hasEqualHalves(Value table, Constants &constants, int depth = 8) {
  if (shapeOf(table).empty() || shapeOf(table).back() % 2 != 0 || depth == 0)
    return false;
  if (splatNumber(table) || isDoubled(table.getDefiningOp<ConcatOp>()))
    return true;
  if (FailureOr<Tensor> known = constants.valueOf(table); succeeded(known))
    return equalHalves(*known).has_value();
  Operation *op = table.getDefiningOp();
  return op && op->hasTrait<OpTrait::Elementwise>() &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return hasEqualHalves(operand, constants, depth - 1); });
}

/// Such a table without the second halves.
static Value firstHalf(OpBuilder &builder, Constants &constants, Value table, StringRef name) {
  if (auto concat = table.getDefiningOp<ConcatOp>(); isDoubled(concat))
    return concat.getInputs()[0];
  if (FailureOr<Tensor> known = constants.valueOf(table); succeeded(known))
    return constants.create(builder, table.getLoc(), *equalHalves(*known), name);
  Operation *op = table.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(firstHalf(builder, constants, operand, name));
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
/// A table of angles' cosines or sines, and the dimensions of x that its own are; unit dimensions
/// aside.
struct AngleTable {
  Value value;
  Dims dims;
};

struct RotaryParts {
  Value x;
  AngleTable cos, sin;
};
} // namespace

/// What a factor repeats over x; all of it, if it is no broadcast.
static AngleTable asTable(Value factor) {
  AngleTable table{factor, {}};
  auto broadcast = factor.getDefiningOp<BroadcastOp>();
  if (broadcast)
    table.value = broadcast.getInput();
  for (auto [index, size] : llvm::enumerate(shapeOf(table.value)))
    if (size != 1)
      table.dims.push_back(broadcast ? broadcast.getDims()[index] : static_cast<int64_t>(index));
  return table;
}

/// The operands of a product, in an order.
static std::pair<Value, Value> factors(Value value, bool swap) {
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul)
    return {};
  return swap ? std::pair(mul.getRhs(), mul.getLhs()) : std::pair(mul.getLhs(), mul.getRhs());
}

static std::optional<RotaryParts> matchRotary(AddOp op, Swallowed &swallowed) {
  for (bool swapTerms : {false, true})
    for (bool swapCos : {false, true})
      for (bool swapSin : {false, true}) {
        auto [x, cos] = factors(swapTerms ? op.getRhs() : op.getLhs(), swapCos);
        auto [turned, sin] = factors(swapTerms ? op.getLhs() : op.getRhs(), swapSin);
        if (!x || !turned || rotatedHalves(turned, swallowed) != x)
          continue;
        swallowed.insert(op.getLhs().getDefiningOp());
        swallowed.insert(op.getRhs().getDefiningOp());
        return RotaryParts{x, asTable(cos), asTable(sin)};
      }
  return std::nullopt;
}

/// The dimension of positions among [b, h, s, d] or [b, s, h, d], from the dimensions of a table;
/// none if it is neither.
static std::optional<int64_t> positionDim(const AngleTable &table, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> dims = table.dims;
  if (shape.size() != 4 || dims.empty() || dims.back() != 3)
    return std::nullopt;
  dims = dims.drop_back();
  if (!dims.empty() && dims.front() == 0)
    dims = dims.drop_front();
  if (dims.size() == 1)
    return dims.front();
  if (!dims.empty())
    return std::nullopt;
  return shape[2] == 1 ? std::optional(2) : shape[1] == 1 ? std::optional(1) : std::nullopt;
}

/// The table as [b or 1, s, r/2].
static Value tableOperand(OpBuilder &builder, const AngleTable &table, Value half,
                          ArrayRef<int64_t> shape, int64_t positions) {
  int64_t batch = table.dims.front() == 0 ? shape[0] : 1;
  auto type =
      RankedTensorType::get({batch, shape[positions], shapeOf(half).back()}, elementOf(half));
  return builder.createOrFold<ReshapeOp>(half.getLoc(), type, half);
}

/// Replaces `op` by the rotation of x, which has positions as dimension 1 or 2.
static void replaceByRotary(Operation *op, Value x, Value cos, Value sin, bool interleaved,
                            int64_t positions, Location loc, PatternRewriter &rewriter) {
  SmallVector<int64_t> swap = {0, 2, 1, 3};
  if (positions == 1)
    x = TransposeOp::create(rewriter, x.getLoc(), x, swap);
  Value result = RotaryOp::create(rewriter, loc, x.getType(), x, cos, sin, interleaved);
  if (positions == 1)
    result = TransposeOp::create(rewriter, loc, result, swap);
  rewriter.replaceOp(op, result);
}

static LogicalResult raiseRotary(AddOp op, Constants &constants, PatternRewriter &rewriter) {
  Swallowed swallowed;
  std::optional<RotaryParts> parts = matchRotary(op, swallowed);
  if (!parts)
    return rewriter.notifyMatchFailure(op, "not x times cos plus rotated x times sin");
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  std::optional<int64_t> positions = positionDim(parts->cos, shape);
  if (!positions || parts->cos.dims != parts->sin.dims)
    return rewriter.notifyMatchFailure(op, "angles are not those of positions");
  if (!hasEqualHalves(parts->cos.value, constants) || !hasEqualHalves(parts->sin.value, constants))
    return rewriter.notifyMatchFailure(op, "pairs do not share an angle");
  auto operand = [&](const AngleTable &table, StringRef name) {
    Value half = firstHalf(rewriter, constants, table.value, name);
    return tableOperand(rewriter, table, half, shape, *positions);
  };
  Value cos = operand(parts->cos, "rotary_cos"), sin = operand(parts->sin, "rotary_sin");
  replaceByRotary(op, parts->x, cos, sin, /*interleaved=*/false, *positions,
                  fuseLocations(op, swallowed.getArrayRef()), rewriter);
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
struct FindRotary : OpRewritePattern<AddOp> {
  FindRotary(MLIRContext *context, Constants &constants)
      : OpRewritePattern(context), constants(constants) {}
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    return raiseRotary(op, constants, rewriter);
  }
  Constants &constants;
};

struct RaiseRotary : weft::impl::RaiseRotaryBase<RaiseRotary> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    Constants constants(getOperation());
    patterns.add(extendRotary);
    patterns.add<FindRotary>(&getContext(), constants);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
