#include "compiler/Interpret/Blocks.h"
#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Constants.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cstring>
#include <numeric>

namespace weft {
#define GEN_PASS_DEF_RAISEVIEWS
#include "passes/Import/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// Positions start, start + stride, …
struct Range {
  int64_t start, stride;
};
} // namespace

/// Evenly spaced positions within [0, extent), none for others.
static std::optional<Range> asRange(ArrayRef<int64_t> positions, int64_t extent) {
  if (positions.empty() || positions.front() < 0 || positions.back() >= extent)
    return std::nullopt;
  Range range{positions.front(), positions.size() > 1 ? positions[1] - positions[0] : 1};
  if (range.stride < 1)
    return std::nullopt;
  for (auto [index, position] : llvm::enumerate(positions))
    if (position != range.start + static_cast<int64_t>(index) * range.stride)
      return std::nullopt;
  return range;
}

/// The position that an index names; none where it lies outside of `extent`. Unsigned indices
/// beyond 63 bits are read as negative ones.
static std::optional<int64_t> positionOf(int64_t index, DType kind, int64_t extent) {
  int64_t position = index < 0 && !isUnsigned(kind) ? index + extent : index;
  return position >= 0 && position < extent ? std::optional(position) : std::nullopt;
}

/// gather at known, evenly spaced positions is a slice.
static LogicalResult gatherToSlice(GatherOp op, PatternRewriter &rewriter) {
  FailureOr<Tensor> indices = constantValue(op.getIndices());
  if (failed(indices) || op.getOffset())
    return rewriter.notifyMatchFailure(op, "positions are not known");
  if (indices->isSplat() && indices->size() > 1)
    return rewriter.notifyMatchFailure(op, "one position again and again");
  std::vector<int64_t> positions = numbersOf<int64_t>(*indices);
  int64_t axis = op.getAxis(), extent = shapeOf(op.getTable())[axis];
  for (int64_t &position : positions)
    position = positionOf(position, indices->kind(), extent).value_or(-1);
  std::optional<Range> range = asRange(positions, extent);
  if (!range)
    return rewriter.notifyMatchFailure(op, "positions are not evenly spaced");
  SmallVector<int64_t> shape(shapeOf(op.getTable()));
  SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
  shape[axis] = positions.size();
  starts[axis] = range->start;
  strides[axis] = range->stride;
  auto type = RankedTensorType::get(shape, elementOf(op.getTable()));
  Value slice = SliceOp::create(rewriter, op.getLoc(), type, op.getTable(), starts, strides);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
  return success();
}

/// gather of everything from a known position on, then of what is before it, joins two slices.
static LogicalResult gatherToRotation(GatherOp op, PatternRewriter &rewriter) {
  FailureOr<Tensor> indices = constantValue(op.getIndices());
  int64_t axis = op.getAxis(), extent = shapeOf(op.getTable())[axis];
  if (failed(indices) || op.getOffset() || rankOf(op.getIndices()) != 1 ||
      indices->size() != extent || extent < 2)
    return rewriter.notifyMatchFailure(op, "not everything at known positions");
  std::vector<int64_t> positions = numbersOf<int64_t>(*indices);
  std::optional<int64_t> first = positionOf(positions.front(), indices->kind(), extent);
  for (auto [index, position] : llvm::enumerate(positions))
    if (!first || positionOf(position, indices->kind(), extent) !=
                      (*first + static_cast<int64_t>(index)) % extent)
      return rewriter.notifyMatchFailure(op, "not in its order");
  if (*first == 0)
    return rewriter.notifyMatchFailure(op, "nothing moves");
  SmallVector<int64_t> shape(shapeOf(op.getTable()));
  SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
  SmallVector<Value> parts;
  for (auto [from, to] : {std::pair(*first, extent), std::pair(int64_t(0), *first)}) {
    starts[axis] = from;
    shape[axis] = to - from;
    auto type = RankedTensorType::get(shape, elementOf(op.getTable()));
    parts.push_back(SliceOp::create(rewriter, op.getLoc(), type, op.getTable(), starts, strides));
  }
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), parts, axis);
  return success();
}

/// Whole slices that are put at one known position take the place of what is there.
static LogicalResult scatterToConcat(ScatterElementsOp op, PatternRewriter &rewriter) {
  FailureOr<Tensor> indices = constantValue(op.getIndices());
  auto axis = static_cast<int64_t>(op.getAxis());
  SmallVector<int64_t> shape(shapeOf(op.getInput()));
  int64_t extent = std::exchange(shape[axis], 1);
  if (failed(indices) || !indices->isSplat() || op.getOffset() || op.getDrop() ||
      op.getKind() != ScatterKind::Set || shapeOf(op.getUpdates()) != ArrayRef<int64_t>(shape))
    return rewriter.notifyMatchFailure(op, "no whole slices at one known position");
  auto place = positionOf(numbersOf<int64_t>(*indices).front(), indices->kind(), extent);
  if (!place)
    return rewriter.notifyMatchFailure(op, "an index lies outside");
  SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
  SmallVector<Value> parts;
  for (auto [from, to] : {std::pair(int64_t(0), *place), std::pair(*place + 1, extent)}) {
    starts[axis] = from;
    shape[axis] = to - from;
    auto type = RankedTensorType::get(shape, elementOf(op.getInput()));
    if (from < to)
      parts.push_back(SliceOp::create(rewriter, op.getLoc(), type, op.getInput(), starts, strides));
    if (from == 0)
      parts.push_back(op.getUpdates());
  }
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), parts, axis);
  return success();
}

/// Slices taken again and again, at repeated positions, are taken once and repeated.
static LogicalResult gatherOnce(GatherOp op, PatternRewriter &rewriter) {
  auto repeated = op.getIndices().getDefiningOp<BroadcastOp>();
  if (!repeated || op.getOffset())
    return rewriter.notifyMatchFailure(op, "positions are not repeated");
  int64_t axis = op.getAxis(), added = rankOf(op.getIndices()) - 1;
  ArrayRef<int64_t> table = shapeOf(op.getTable());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, axis));
  for (int64_t dim : repeated.getDims())
    dims.push_back(axis + dim);
  for (int64_t dim = axis + 1; dim < static_cast<int64_t>(table.size()); ++dim)
    dims.push_back(dim + added);
  Value once = GatherOp::create(rewriter, op.getLoc(), op.getTable(), repeated.getInput(), axis);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), once, dims);
  return success();
}

/// gather_elements takes slices where the index depends on nothing but the position along the axis.
static LogicalResult gatherElementsToGather(GatherElementsOp op, PatternRewriter &rewriter) {
  auto repeated = op.getIndices().getDefiningOp<BroadcastOp>();
  auto axis = static_cast<int64_t>(op.getAxis());
  SmallVector<int64_t> shape(shapeOf(op.getInput()));
  shape[axis] = shapeOf(op.getIndices())[axis];
  if (!repeated || repeated.getDims() != ArrayRef<int64_t>{axis} ||
      shape != shapeOf(op.getIndices()))
    return rewriter.notifyMatchFailure(op, "positions differ within slices");
  rewriter.replaceOpWithNewOp<GatherOp>(op, op.getInput(), repeated.getInput(), axis);
  return success();
}

/// gather_nd by tuples of one index is a gather along the first dimension.
static LogicalResult gatherNdToGather(GatherNdOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = shapeOf(op.getIndices());
  if (shape.back() != 1 || op.getBatchDims() != 0)
    return rewriter.notifyMatchFailure(op, "tuples of several indices");
  auto type = RankedTensorType::get(shape.drop_back(), elementOf(op.getIndices()));
  Value indices = ReshapeOp::create(rewriter, op.getLoc(), type, op.getIndices());
  rewriter.replaceOpWithNewOp<GatherOp>(op, op.getInput(), indices, 0);
  return success();
}

/// gather_nd that takes everything in its order is a reshape.
static LogicalResult gatherNdToReshape(GatherNdOp op, PatternRewriter &rewriter) {
  FailureOr<Tensor> indices = constantValue(op.getIndices());
  if (failed(indices) || op.getBatchDims() != 0)
    return rewriter.notifyMatchFailure(op, "positions are not known");
  int64_t length = shapeOf(op.getIndices()).back();
  ArrayRef<int64_t> indexed = shapeOf(op.getInput()).take_front(length);
  int64_t extent = std::accumulate(indexed.begin(), indexed.end(), int64_t(1), std::multiplies<>());
  if (indices->size() != extent * length || (indices->isSplat() && extent > 1))
    return rewriter.notifyMatchFailure(op, "not everything");
  std::vector<int64_t> numbers = numbersOf<int64_t>(*indices), positions;
  for (size_t tuple = 0; tuple + length <= numbers.size() && length > 0; tuple += length) {
    positions.push_back(0);
    for (int64_t dim = 0; dim < length; ++dim) {
      auto place = positionOf(numbers[tuple + dim], indices->kind(), indexed[dim]);
      if (!place)
        return rewriter.notifyMatchFailure(op, "an index lies outside");
      positions.back() = positions.back() * indexed[dim] + *place;
    }
  }
  std::optional<Range> range = asRange(positions, extent);
  if (!range || range->start != 0 || range->stride != 1 ||
      static_cast<int64_t>(positions.size()) != extent)
    return rewriter.notifyMatchFailure(op, "not everything in its order");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

//===----------------------------------------------------------------------===//
// Constants that repeat themselves
//===----------------------------------------------------------------------===//

/// Whether all blocks along a dimension are the same bytes.
static bool isRepeatedAlong(const Tensor &value, int64_t dim) {
  int64_t size = value.shape()[dim], inner = value.elementBytes(), outer = 1;
  for (int64_t extent : value.shape().drop_front(dim + 1))
    inner *= extent;
  for (int64_t extent : value.shape().take_front(dim))
    outer *= extent;
  for (int64_t block = 0; block < outer; ++block) {
    const char *first = value.data() + block * size * inner;
    if (std::memcmp(first, first + inner, (size - 1) * inner) != 0)
      return false;
  }
  return true;
}

/// The dimensions along which a value that is no splat changes.
static SmallVector<int64_t> changingDims(const Tensor &value) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < value.rank(); ++dim)
    if (value.shape()[dim] == 1 || !isRepeatedAlong(value, dim))
      dims.push_back(dim);
  return dims;
}

/// The sizes of some dimensions; those of all, 1 for others.
static SmallVector<int64_t> sizesOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
}
static SmallVector<int64_t> blockOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> block(shape.size(), 1);
  for (int64_t dim : dims)
    block[dim] = shape[dim];
  return block;
}

namespace {
/// A constant that holds a block many times is that block, repeated.
struct ShrinkConstant : OpRewritePattern<ConstantOp> {
  ShrinkConstant(MLIRContext *context, Constants &constants)
      : OpRewritePattern(context), constants(constants) {}

  LogicalResult matchAndRewrite(ConstantOp op, PatternRewriter &rewriter) const override {
    FailureOr<Tensor> value = constants.valueOf(op);
    if (failed(value) || value->isSplat() || value->size() == 0)
      return rewriter.notifyMatchFailure(op, "a splat");
    SmallVector<int64_t> dims = changingDims(*value), start(value->rank(), 0);
    if (static_cast<int64_t>(dims.size()) == value->rank())
      return rewriter.notifyMatchFailure(op, "repeats nothing");
    auto type =
        RankedTensorType::get(sizesOf(value->shape(), dims), value->type().getElementType());
    Tensor block = blockAt(*value, start, blockOf(value->shape(), dims)).withType(type);
    Value constant = ConstantOp::create(rewriter, op.getLoc(), block.toElements());
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), constant, dims);
    return success();
  }
  Constants &constants;
};

/// A weight that holds a block many times is read as that block, repeated: constants, and
/// parameters that an exporter repeated to be concatenated (a class token, for each of a batch).
struct ShrinkLoad : OpRewritePattern<LoadOp> {
  ShrinkLoad(MLIRContext *context, Constants &constants)
      : OpRewritePattern(context), constants(constants) {}

  bool mayRepeat(LoadOp op) const {
    WeightOp weight = constants.weightOf(op);
    bool isConstant = weight && weight.getKind() == WeightKind::Constant;
    bool isJoined =
        rankOf(op.getResult()) >= 3 &&
        llvm::any_of(op->getUsers(), [](Operation *user) { return isa<ConcatOp>(user); });
    return isConstant || isJoined;
  }

  LogicalResult matchAndRewrite(LoadOp op, PatternRewriter &rewriter) const override {
    auto isWhole = [](OpOperand &use) { return !isa<SliceOp>(use.getOwner()); };
    if (llvm::none_of(op->getUses(), isWhole) || !mayRepeat(op))
      return rewriter.notifyMatchFailure(op, "not looked at");
    FailureOr<Tensor> value = constants.valueOf(op);
    if (failed(value) || value->isSplat() || value->size() == 0)
      return rewriter.notifyMatchFailure(op, "not known");
    SmallVector<int64_t> dims = changingDims(*value), start(value->rank(), 0);
    if (static_cast<int64_t>(dims.size()) == value->rank())
      return rewriter.notifyMatchFailure(op, "repeats nothing");
    Type element = value->type().getElementType();
    rewriter.setInsertionPointAfter(op);
    auto blockType = RankedTensorType::get(sizesOf(value->shape(), dims), element);
    if (constants.weightOf(op).getKind() == WeightKind::Constant &&
        blockType.getNumElements() <= ConstantOp::maxElements) {
      Tensor known = blockAt(*value, start, blockOf(value->shape(), dims)).withType(blockType);
      Value constant = ConstantOp::create(rewriter, op.getLoc(), known.toElements());
      rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), constant, dims);
      return success();
    }
    Value block = SliceOp::create(rewriter, op.getLoc(),
                                  RankedTensorType::get(blockOf(value->shape(), dims), element), op,
                                  start, SmallVector<int64_t>(value->rank(), 1));
    block = ReshapeOp::create(rewriter, op.getLoc(), blockType, block);
    Value whole = BroadcastOp::create(rewriter, op.getLoc(), op.getType(), block, dims);
    rewriter.replaceUsesWithIf(op, whole, isWhole);
    return success();
  }
  Constants &constants;
};

struct RaiseViews : weft::impl::RaiseViewsBase<RaiseViews> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    Constants constants(getOperation());
    patterns.add(gatherNdToReshape).add(gatherNdToGather).add(gatherElementsToGather);
    patterns.add(gatherToSlice).add(gatherToRotation).add(scatterToConcat).add(gatherOnce);
    patterns.add<ShrinkConstant, ShrinkLoad>(&getContext(), constants);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
