//===- DecomposeAttention.cpp - attention as products and a softmax -------===//

#include "passes/Lowering/Passes.h"

#include "llvm/ADT/APFloat.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEATTENTION
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// Builds the replacement of one attention. Scores have the type [b, h, s, t] of the query's
/// elements.
class Decomposition {
public:
  Decomposition(OpBuilder &builder, AttentionOp op) : builder(builder), op(op), loc(op.getLoc()) {
    query = cast<RankedTensorType>(op.getQuery().getType());
    key = cast<RankedTensorType>(op.getKey().getType());
    groups = key.getDimSize(1);
    repeat = query.getDimSize(1) / groups;
    scoresType = query.clone(
        {query.getDimSize(0), query.getDimSize(1), query.getDimSize(2), key.getDimSize(2)});
  }

  void run() {
    Value visible = visibility();
    Value scores = cappedScores();
    Value masked = visible ? maskWith(scores, visible, fillValue()) : scores;
    Value weights = SoftmaxOp::create(builder, loc, masked, /*axis=*/3);
    if ((visible || op.getBias()) && op.getMaskedRows() == MaskedRows::Zero)
      weights = clearMaskedRows(weights, masked);
    op.getResult().replaceAllUsesWith(product(weights, op.getValue(), {2}));
    if (Value lse = op.getLse()) {
      Value infinite = visible ? maskWith(scores, visible, infinity(/*negative=*/true)) : scores;
      lse.replaceAllUsesWith(logSumExp(infinite));
    }
    op.erase();
  }

private:
  APFloat infinity(bool negative) {
    return APFloat::getInf(cast<FloatType>(query.getElementType()).getFloatSemantics(), negative);
  }

  APFloat fillValue() {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(query.getElementType()).getFloatSemantics();
    return op.getMaskedRows() == MaskedRows::Uniform
               ? APFloat::getLargest(semantics, /*Negative=*/true)
               : infinity(/*negative=*/true);
  }

  Value constant(const APFloat &value, RankedTensorType type) {
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
  }

  Value constant(double value, RankedTensorType type) {
    APFloat converted(value);
    bool inexact;
    converted.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                      APFloat::rmNearestTiesToEven, &inexact);
    return constant(converted, type);
  }

  Value integer(int64_t value, RankedTensorType type) {
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
  }

  Value broadcast(Value value, RankedTensorType type, ArrayRef<int64_t> dims) {
    if (value.getType() == type)
      return value;
    return BroadcastOp::create(builder, loc, type, value, dims);
  }

  /// The product of `lhs` [b, h, …] with a key or value [b, g, …], contracted over the last
  /// dimension of `lhs` and `contract` of `rhs`; heads that share a key head are a dimension of
  /// their own.
  Value product(Value lhs, Value rhs, ArrayRef<int64_t> contract) {
    auto type = cast<RankedTensorType>(lhs.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (repeat != 1) {
      lhs = ReshapeOp::create(builder, loc,
                              type.clone({shape[0], groups, repeat, shape[2], shape[3]}), lhs);
    }
    int64_t last = cast<RankedTensorType>(lhs.getType()).getRank() - 1;
    Value result = DotGeneralOp::create(builder, loc, lhs, rhs, ArrayRef<int64_t>{0, 1},
                                        ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>{last}, contract);
    if (repeat == 1)
      return result;
    shape.back() = cast<RankedTensorType>(result.getType()).getShape().back();
    return ReshapeOp::create(builder, loc, type.clone(shape), result);
  }

  Value cappedScores() {
    Value scores = product(op.getQuery(), op.getKey(), {3});
    double scale = op.getScale().convertToDouble();
    if (scale != 1.0)
      scores = MulOp::create(builder, loc, scores, constant(scale, scoresType));
    if (op.getSoftcap()) {
      Value cap = constant(op.getSoftcap()->convertToDouble(), scoresType);
      Value bounded = TanhOp::create(builder, loc, DivOp::create(builder, loc, scores, cap));
      scores = MulOp::create(builder, loc, bounded, cap);
    }
    if (op.getBias())
      scores =
          AddOp::create(builder, loc, scores, broadcast(op.getBias(), scoresType, {0, 1, 2, 3}));
    return scores;
  }

  Value both(Value lhs, Value rhs) {
    return lhs ? AndOp::create(builder, loc, lhs, rhs).getResult() : rhs;
  }

  /// Which keys each query sees, as i1 of the scores' shape; null if all of them.
  Value visibility() {
    Value visible;
    RankedTensorType boolType = scoresType.clone(builder.getI1Type());
    if (op.getMask())
      visible = broadcast(op.getMask(), boolType, {0, 1, 2, 3});
    if (!op.getCausal() && !op.getWindow())
      return visible;
    RankedTensorType positionType = scoresType.clone(builder.getI32Type());
    Value position = IotaOp::create(builder, loc, positionType, 2);
    if (op.getQueryOffset() != 0)
      position = AddOp::create(builder, loc, position, integer(op.getQueryOffset(), positionType));
    Value keyPosition = IotaOp::create(builder, loc, positionType, 3);
    if (op.getCausal()) {
      visible = both(visible,
                     CompareOp::create(builder, loc, CompareDirection::LE, keyPosition, position));
    }
    if (op.getWindow()) {
      Value window = integer(*op.getWindow(), positionType);
      Value back = SubOp::create(builder, loc, position, keyPosition);
      visible = both(visible, CompareOp::create(builder, loc, CompareDirection::LT, back, window));
      if (!op.getCausal()) {
        Value ahead = SubOp::create(builder, loc, keyPosition, position);
        visible =
            both(visible, CompareOp::create(builder, loc, CompareDirection::LT, ahead, window));
      }
    }
    return visible;
  }

  Value maskWith(Value scores, Value visible, const APFloat &fill) {
    return SelectOp::create(builder, loc, visible, scores, constant(fill, scoresType));
  }

  /// Zeros where all scores of a row are -inf.
  Value clearMaskedRows(Value weights, Value scores) {
    Value top = ReduceOp::create(builder, loc, ReduceKind::Max, scores, ArrayRef<int64_t>{3});
    Value least = constant(infinity(/*negative=*/true), cast<RankedTensorType>(top.getType()));
    Value empty = CompareOp::create(builder, loc, CompareDirection::EQ, top, least);
    Value rows = broadcast(empty, scoresType.clone(builder.getI1Type()), {0, 1, 2});
    return SelectOp::create(builder, loc, rows, constant(0.0, scoresType), weights);
  }

  /// log Σ exp(score) of each row, [b, h, s]; -inf where every score is -inf.
  Value logSumExp(Value scores) {
    Value top = ReduceOp::create(builder, loc, ReduceKind::Max, scores, ArrayRef<int64_t>{3});
    auto rowType = cast<RankedTensorType>(top.getType());
    Value least = constant(infinity(/*negative=*/true), rowType);
    Value empty = CompareOp::create(builder, loc, CompareDirection::EQ, top, least);
    Value shift = SelectOp::create(builder, loc, empty, constant(0.0, rowType), top);
    Value shifted = SubOp::create(builder, loc, scores, broadcast(shift, scoresType, {0, 1, 2}));
    Value exponentials = ExpOp::create(builder, loc, shifted);
    Value sum = ReduceOp::create(builder, loc, ReduceKind::Sum, exponentials, ArrayRef<int64_t>{3});
    return AddOp::create(builder, loc, shift, LogOp::create(builder, loc, sum));
  }

  OpBuilder &builder;
  AttentionOp op;
  Location loc;
  RankedTensorType query, key, scoresType;
  int64_t groups, repeat;
};

struct DecomposeAttention : weft::impl::DecomposeAttentionBase<DecomposeAttention> {
  void runOnOperation() override {
    SmallVector<AttentionOp> attentions;
    getOperation().walk([&](AttentionOp op) { attentions.push_back(op); });
    for (AttentionOp op : attentions) {
      OpBuilder builder(op);
      Decomposition(builder, op).run();
    }
  }
};

} // namespace
