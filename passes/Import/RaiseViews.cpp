#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Passes.h"
#include "passes/Import/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
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

/// gather at known, evenly spaced positions is a slice.
static LogicalResult gatherToSlice(GatherOp op, PatternRewriter &rewriter) {
  FailureOr<Tensor> indices = constantValue(op.getIndices());
  if (failed(indices) || op.getOffset())
    return rewriter.notifyMatchFailure(op, "positions are not known");
  std::vector<int64_t> positions = numbersOf<int64_t>(*indices);
  int64_t axis = op.getAxis(), extent = shapeOf(op.getTable())[axis];
  for (int64_t &position : positions)
    position += position < 0 ? extent : 0;
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

/// gather_nd that takes everything in its order is a reshape.
static LogicalResult gatherNdToReshape(GatherNdOp op, PatternRewriter &rewriter) {
  FailureOr<Tensor> indices = constantValue(op.getIndices());
  if (failed(indices) || op.getBatchDims() != 0)
    return rewriter.notifyMatchFailure(op, "positions are not known");
  int64_t length = shapeOf(op.getIndices()).back();
  ArrayRef<int64_t> indexed = shapeOf(op.getInput()).take_front(length);
  int64_t extent = std::accumulate(indexed.begin(), indexed.end(), int64_t(1), std::multiplies<>());
  std::vector<int64_t> numbers = numbersOf<int64_t>(*indices), positions;
  for (size_t tuple = 0; tuple + length <= numbers.size() && length > 0; tuple += length) {
    positions.push_back(0);
    for (int64_t dim = 0; dim < length; ++dim) {
      int64_t index = numbers[tuple + dim];
      positions.back() =
          positions.back() * indexed[dim] + (index < 0 ? index + indexed[dim] : index);
    }
  }
  std::optional<Range> range = asRange(positions, extent);
  if (!range || range->start != 0 || range->stride != 1 ||
      static_cast<int64_t>(positions.size()) != extent)
    return rewriter.notifyMatchFailure(op, "not everything in its order");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

namespace {
struct RaiseViews : weft::impl::RaiseViewsBase<RaiseViews> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(gatherNdToReshape).add(gatherToSlice);
    populateCanonicalization(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
