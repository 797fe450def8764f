// Attention written out in two products around a masked softmax.

#include "dialects/Weft/IR/TensorBuilder.h"

using namespace mlir;
using namespace weft;

namespace {

/// Builds the replacement of one attention. Scores have the type [b, h, s, t] of the query's
/// elements.
class Decomposition {
public:
  Decomposition(ImplicitLocOpBuilder &builder, AttentionOp op)
      : builder(builder), b(builder), op(op) {
    query = cast<RankedTensorType>(op.getQuery().getType());
    key = cast<RankedTensorType>(op.getKey().getType());
    groups = key.getDimSize(1);
    repeat = query.getDimSize(1) / groups;
    scoresType = query.clone(
        {query.getDimSize(0), query.getDimSize(1), query.getDimSize(2), key.getDimSize(2)});
  }

  SmallVector<Value> run() {
    Value visible = visibility();
    Value scores = cappedScores();
    Value masked = visible ? maskWith(scores, visible, fillValue()) : scores;
    Value weights = b.make<SoftmaxOp>(masked, /*axis=*/3);
    if ((visible || op.getBias()) && op.getMaskedRows() == MaskedRows::Zero)
      weights = clearMaskedRows(weights, masked);
    SmallVector<Value> results{product(weights, op.getValue(), {2})};
    if (op.getLse()) {
      Value infinite = visible ? maskWith(scores, visible, infinity(/*negative=*/true)) : scores;
      results.push_back(logSumExp(infinite));
    }
    return results;
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

  Value integer(int64_t value, RankedTensorType type) {
    return b.make<ConstantOp>(
        DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
  }

  /// The product of `lhs` [b, h, …] with a key or value [b, g, …], contracted over the last
  /// dimension of `lhs` and `contract` of `rhs`; heads that share a key head are a dimension of
  /// their own.
  Value product(Value lhs, Value rhs, ArrayRef<int64_t> contract) {
    auto type = cast<RankedTensorType>(lhs.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (repeat != 1)
      lhs = b.reshape(lhs, {shape[0], groups, repeat, shape[2], shape[3]});
    int64_t last = cast<RankedTensorType>(lhs.getType()).getRank() - 1;
    Value result = b.make<DotGeneralOp>(lhs, rhs, ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>{0, 1},
                                        ArrayRef<int64_t>{last}, contract);
    if (repeat == 1)
      return result;
    shape.back() = cast<RankedTensorType>(result.getType()).getShape().back();
    return b.reshape(result, shape);
  }

  Value cappedScores() {
    Value scores = product(op.getQuery(), op.getKey(), {3});
    double scale = op.getScale().convertToDouble();
    if (scale != 1.0)
      scores = b.mul(scores, b.splat(scoresType, scale));
    if (op.getSoftcap()) {
      Value cap = b.splat(scoresType, op.getSoftcap()->convertToDouble());
      Value bounded = b.make<TanhOp>(b.make<DivOp>(scores, cap));
      scores = b.mul(bounded, cap);
    }
    if (op.getBias())
      scores = b.add(scores, b.broadcast(op.getBias(), scoresType, {0, 1, 2, 3}));
    return scores;
  }

  Value both(Value lhs, Value rhs) { return lhs ? b.make<AndOp>(lhs, rhs) : rhs; }

  /// Which keys each query sees, as i1 of the scores' shape; null if all of them.
  Value visibility() {
    Value visible;
    RankedTensorType boolType = scoresType.clone(builder.getI1Type());
    if (op.getMask())
      visible = b.broadcast(op.getMask(), boolType, {0, 1, 2, 3});
    if (!op.getCausal() && !op.getWindow())
      return visible;
    RankedTensorType positionType = scoresType.clone(builder.getI32Type());
    Value position = b.make<IotaOp>(positionType, 2);
    if (op.getQueryOffset() != 0)
      position = b.add(position, integer(op.getQueryOffset(), positionType));
    Value keyPosition = b.make<IotaOp>(positionType, 3);
    if (op.getCausal())
      visible = both(visible, b.make<CompareOp>(CompareDirection::LE, keyPosition, position));
    if (op.getWindow()) {
      Value window = integer(*op.getWindow(), positionType);
      Value back = b.sub(position, keyPosition);
      visible = both(visible, b.make<CompareOp>(CompareDirection::LT, back, window));
      if (!op.getCausal()) {
        Value ahead = b.sub(keyPosition, position);
        visible = both(visible, b.make<CompareOp>(CompareDirection::LT, ahead, window));
      }
    }
    return visible;
  }

  Value maskWith(Value scores, Value visible, const APFloat &fill) {
    return b.make<SelectOp>(visible, scores, b.splat(scoresType, fill));
  }

  /// Zeros where all scores of a row are -inf.
  Value clearMaskedRows(Value weights, Value scores) {
    Value top = b.reduce(ReduceKind::Max, scores, {3});
    Value least = b.splat(cast<RankedTensorType>(top.getType()), infinity(/*negative=*/true));
    Value empty = b.make<CompareOp>(CompareDirection::EQ, top, least);
    Value rows = b.broadcast(empty, scoresType.clone(builder.getI1Type()), {0, 1, 2});
    return b.make<SelectOp>(rows, b.splat(scoresType, 0.0), weights);
  }

  /// log Σ exp(score) of each row, [b, h, s]; -inf where every score is -inf.
  Value logSumExp(Value scores) {
    Value top = b.reduce(ReduceKind::Max, scores, {3});
    auto rowType = cast<RankedTensorType>(top.getType());
    Value least = b.splat(rowType, infinity(/*negative=*/true));
    Value empty = b.make<CompareOp>(CompareDirection::EQ, top, least);
    Value shift = b.make<SelectOp>(empty, b.splat(rowType, 0.0), top);
    Value shifted = b.sub(scores, b.broadcast(shift, scoresType, {0, 1, 2}));
    Value exponentials = b.make<ExpOp>(shifted);
    Value sum = b.reduce(ReduceKind::Sum, exponentials, {3});
    return b.add(shift, b.make<LogOp>(sum));
  }

  ImplicitLocOpBuilder &builder;
  TensorBuilder b;
  AttentionOp op;
  RankedTensorType query, key, scoresType;
  int64_t groups, repeat;
};

} // namespace

SmallVector<Value> AttentionBackwardOp::decompose(ImplicitLocOpBuilder &) {
  llvm_unreachable("attention_backward is not written out yet");
}

SmallVector<Value> AttentionOp::decompose(ImplicitLocOpBuilder &builder) {
  return Decomposition(builder, *this).run();
}
