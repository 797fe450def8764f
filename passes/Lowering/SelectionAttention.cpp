// Selection: attention and its gradients.

#include "passes/Lowering/Selection.h"

#include "compiler/Graph/Work.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;

/// How keys lie to the queries that see them: `low` and `high` of the instructions.
template <typename Op>
static std::pair<std::optional<int64_t>, std::optional<int64_t>> getBand(Op op) {
  std::optional<int64_t> low, high;
  auto offset = static_cast<int64_t>(op.getQueryOffset());
  int64_t positions = std::abs(offset) + op.getQuery().getType().getDimSize(2) +
                      op.getKey().getType().getDimSize(2);
  int64_t window = static_cast<int64_t>(op.getWindow().value_or(positions));
  if (window < positions) { // else it hides none
    low = offset - (window - 1);
    high = offset + (window - 1);
  }
  if (op.getCausal())
    high = offset;
  return {low, high};
}

/// A view whose unit dimensions repeat as far as `shape` goes.
static View broadcastTo(View view, ArrayRef<int64_t> shape) {
  for (auto [from, to, stride] : llvm::zip_equal(view.shape, shape, view.strides))
    stride = from == 1 && to != 1 ? 0 : stride;
  view.shape = Extents(shape);
  return view;
}

namespace {
/// What the instructions of an attention and of its gradients have in common.
template <typename Op> class Scores {
public:
  using ViewOf = llvm::function_ref<View(Value)>;

  Scores(Op op, SegmentBuilder &segment, ViewOf viewOf) : op(op), segment(segment) {
    View ofQuery = viewOf(op.getQuery()), ofKey = viewOf(op.getKey());
    shape = {ofQuery.shape[0], ofQuery.shape[1], ofQuery.shape[2], ofKey.shape[2]};
    shapeClass =
        llvm::formatv("{0} b={1} m={2} n={3} k={4} ", Op::getOperationName().split('.').second,
                      shape[0] * shape[1], shape[2], shape[3], ofQuery.shape[3]);
    llvm::raw_string_ostream(shapeClass) << ofQuery.dtype;
    query = read(ofQuery);
    key = read(ofKey);
    value = read(viewOf(op.getValue()));
    if (op.getMask())
      mask = read(broadcastTo(viewOf(op.getMask()), shape));
    if (op.getBias())
      bias = read(broadcastTo(viewOf(op.getBias()), shape));
    std::tie(low, high) = getBand(op);
  }

  exec::OperandAttr read(const View &view) {
    reads.push_back(view);
    return segment.getOperand(view);
  }
  exec::OperandAttr write(const View &view) {
    writes.push_back(view);
    return segment.getOperand(view);
  }

  IntegerAttr getLow() { return getInteger(low); }
  IntegerAttr getHigh() { return getInteger(high); }
  exec::MaskedRowsAttr getMaskedRows() {
    return exec::MaskedRowsAttr::get(op.getContext(), op.getMaskedRows());
  }
  exec::PriceAttr getPrice() {
    return segment.getPrice(op.getLoc(), reads, writes, countFlops(op), shapeClass);
  }

  exec::OperandAttr query, key, value, mask, bias;

private:
  IntegerAttr getInteger(std::optional<int64_t> number) {
    return number ? segment.getBuilder().getI64IntegerAttr(*number) : IntegerAttr();
  }

  Op op;
  SegmentBuilder &segment;
  SmallVector<int64_t> shape;
  std::string shapeClass;
  SmallVector<View> reads, writes;
  std::optional<int64_t> low, high;
};
} // namespace

LogicalResult Selection::lowerOp(AttentionOp op) {
  Scores<AttentionOp> scores(op, segment, [&](Value value) { return views.at(value); });
  exec::OperandAttr output = scores.write(allocateResult(op.getResult())), lse;
  if (op.getLse())
    lse = scores.write(allocateResult(op.getLse()));
  exec::AttentionOp::create(segment.getBuilder(), op.getLoc(), scores.query, scores.key,
                            scores.value, scores.mask, scores.bias, output, lse, op.getScaleAttr(),
                            op.getSoftcapAttr(), scores.getLow(), scores.getHigh(),
                            scores.getMaskedRows(), scores.getPrice());
  return success();
}

LogicalResult Selection::lowerOp(AttentionBackwardOp op) {
  Scores<AttentionBackwardOp> scores(op, segment, [&](Value value) { return views.at(value); });
  exec::OperandAttr output = scores.read(views.at(op.getResult())),
                    lse = scores.read(views.at(op.getLse())),
                    gradient = scores.read(views.at(op.getGradient()));
  SmallVector<exec::OperandAttr> gradients;
  for (Value result : op->getResults())
    gradients.push_back(scores.write(allocateResult(result)));
  exec::AttentionBackwardOp::create(segment.getBuilder(), op.getLoc(), scores.query, scores.key,
                                    scores.value, scores.mask, scores.bias, output, lse, gradient,
                                    gradients[0], gradients[1], gradients[2], op.getScaleAttr(),
                                    op.getSoftcapAttr(), scores.getLow(), scores.getHigh(),
                                    scores.getMaskedRows(), scores.getPrice());
  return success();
}
