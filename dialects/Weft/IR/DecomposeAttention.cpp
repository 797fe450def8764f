// Attention written out in products around a masked softmax, and its gradients, which compute the
// softmax again from the logarithms of its sums.

#include "dialects/Weft/IR/AttentionWeights.h"
#include "dialects/Weft/IR/TensorBuilder.h"

using namespace mlir;
using namespace weft;

namespace {

/// The scores of an attention, or of its gradients, of the type [b, h, s, t] of the query's
/// elements.
template <typename Op> class Scores {
public:
  Scores(ImplicitLocOpBuilder &builder, Op op) : builder(builder), b(builder), op(op) {
    query = cast<RankedTensorType>(op.getQuery().getType());
    key = cast<RankedTensorType>(op.getKey().getType());
    groups = key.getDimSize(1);
    repeat = query.getDimSize(1) / groups;
    scoresType = query.clone(
        {query.getDimSize(0), query.getDimSize(1), query.getDimSize(2), key.getDimSize(2)});
  }

protected:
  static APFloat infinity(Value like, bool negative) {
    return APFloat::getInf(cast<FloatType>(elementOf(like)).getFloatSemantics(), negative);
  }

  Value integer(int64_t value, RankedTensorType type) {
    return b.make<ConstantOp>(
        DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
  }

  /// Heads that share a key head as a dimension of their own: [b, g, r, …], if they do.
  Value grouped(Value heads) {
    if (repeat == 1)
      return heads;
    ArrayRef<int64_t> shape = shapeOf(heads);
    return b.reshape(heads, {shape[0], groups, repeat, shape[2], shape[3]});
  }

  /// The product of `lhs` [b, h, …] with a key or value [b, g, …], contracted over the last
  /// dimension of `lhs` and `contract` of `rhs`.
  Value product(Value lhs, Value rhs, ArrayRef<int64_t> contract) {
    SmallVector<int64_t> shape(shapeOf(lhs));
    lhs = grouped(lhs);
    Value result = b.make<DotGeneralOp>(lhs, rhs, ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>{0, 1},
                                        ArrayRef<int64_t>{rankOf(lhs) - 1}, contract);
    if (repeat == 1)
      return result;
    shape.back() = shapeOf(result).back();
    return b.reshape(result, shape);
  }

  Value cappedScores() {
    Value scores = product(op.getQuery(), op.getKey(), {3});
    double scale = op.getScale().convertToDouble();
    if (scale != 1.0)
      scores = b.mul(scores, b.splat(scoresType, scale));
    if (op.getSoftcap()) {
      Value cap = b.splat(scoresType, op.getSoftcap()->convertToDouble());
      bounded = b.make<TanhOp>(b.make<DivOp>(scores, cap));
      scores = b.mul(bounded, cap);
    }
    if (op.getBias())
      scores = b.add(scores, b.broadcast(op.getBias(), scoresType, {0, 1, 2, 3}));
    return scores;
  }

  /// A window as wide hides no key.
  int64_t countPositions() {
    return std::abs(static_cast<int64_t>(op.getQueryOffset())) + query.getDimSize(2) +
           key.getDimSize(2);
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
      Value window = integer(std::min<int64_t>(*op.getWindow(), countPositions()), positionType);
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
    return b.make<SelectOp>(visible, scores,
                            b.splat(cast<RankedTensorType>(scores.getType()), fill));
  }

  Value isLeast(Value rows) {
    Value least =
        b.splat(cast<RankedTensorType>(rows.getType()), infinity(rows, /*negative=*/true));
    return b.make<CompareOp>(CompareDirection::EQ, rows, least);
  }

  /// `number` in the rows that are `empty`.
  Value fillRows(Value empty, Value scores, double number) {
    return b.make<SelectOp>(b.spread(empty, scores, {3}), b.splat(scores, number), scores);
  }

  ImplicitLocOpBuilder &builder;
  TensorBuilder b;
  Op op;
  RankedTensorType query, key, scoresType;
  int64_t groups, repeat;
  Value bounded; ///< within ±1, if capped
};

/// Builds the replacement of one attention.
class Forward : Scores<AttentionOp> {
public:
  using Scores::Scores;

  SmallVector<Value> run(function_ref<Value(Value)> change) {
    Value visible = visibility();
    Value scores = cappedScores();
    Value masked = visible ? maskWith(scores, visible, fillValue()) : scores;
    bool clears = (visible || op.getBias()) && op.getMaskedRows() == MaskedRows::Zero;
    // Cleared before, too: where the softmax is no number, it has no gradient that could be.
    Value empty = clears ? isLeast(b.reduce(ReduceKind::Max, masked, {3})) : Value();
    Value weights = b.make<SoftmaxOp>(clears ? fillRows(empty, masked, 0) : masked, /*axis=*/3);
    if (clears)
      weights = fillRows(empty, weights, 0);
    SmallVector<Value> results{product(change(weights), op.getValue(), {2})};
    if (op.getLse())
      results.push_back(b.castTo(
          logSumExp(b.widen(visible ? maskWith(scores, visible, infinity(scores, /*negative=*/true))
                                    : scores)),
          elementOf(op.getLse())));
    return results;
  }

private:
  APFloat fillValue() {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(query.getElementType()).getFloatSemantics();
    return op.getMaskedRows() == MaskedRows::Uniform
               ? APFloat::getLargest(semantics, /*Negative=*/true)
               : APFloat::getInf(semantics, /*Negative=*/true);
  }

  /// log Σ exp(score) of each row, [b, h, s]; -inf where every score is -inf.
  Value logSumExp(Value scores) {
    Value top = b.reduce(ReduceKind::Max, scores, {3});
    Value shift = b.make<SelectOp>(isLeast(top), b.splat(top, 0.0), top);
    Value exponentials = b.make<ExpOp>(b.sub(scores, b.spread(shift, scores, {3})));
    return b.add(shift, b.make<LogOp>(b.reduce(ReduceKind::Sum, exponentials, {3})));
  }
};

/// Builds the gradients of one attention. With the weights P of the scores S, result O and its
/// gradient dO:
///
///   dV = Pᵀ·dO,  dP = dO·Vᵀ,  dS = P ∘ (dP - rowsum(dO ∘ O)),  dQ = scale·dS·K,  dK = scale·dSᵀ·Q
class Backward : Scores<AttentionBackwardOp> {
public:
  using Scores::Scores;

  SmallVector<Value> run() {
    Value visible = visibility();
    Value weights = computeWeights(visible);
    Value outer = b.widen(product(op.getGradient(), op.getValue(), {3}));
    Value ofRows =
        b.reduce(ReduceKind::Sum, b.mul(b.widen(op.getGradient()), b.widen(op.getResult())), {3});
    Value ofScores = b.mul(weights, b.sub(outer, b.spread(ofRows, outer, {3})));
    if (bounded) {
      Value slope = b.widen(bounded);
      ofScores = b.mul(ofScores, b.sub(b.splat(slope, 1), b.mul(slope, slope)));
    }
    if (visible)
      ofScores = b.make<SelectOp>(visible, ofScores, b.splat(ofScores, 0));
    if (double scale = op.getScale().convertToDouble(); scale != 1.0)
      ofScores = b.mul(ofScores, b.splat(ofScores, scale));
    ofScores = narrow(ofScores);
    return {product(ofScores, op.getKey(), {2}), sumQueries(ofScores, op.getQuery()),
            sumQueries(narrow(weights), op.getGradient())};
  }

private:
  Value narrow(Value value) { return b.castTo(value, query.getElementType()); }

  /// exp(score - log of the row's sum). Rows that see nothing have what `masked_rows` says.
  Value computeWeights(Value visible) {
    Value scores = b.widen(cappedScores()), logs = b.castTo(op.getLse(), elementOf(scores));
    if (visible)
      scores = maskWith(scores, visible, infinity(scores, /*negative=*/true));
    Value weights = b.make<ExpOp>(b.sub(scores, b.spread(logs, scores, {3})));
    if (op.getMaskedRows() == MaskedRows::Zero && (visible || op.getBias()))
      return fillRows(isLeast(logs), weights, 0);
    if (op.getMaskedRows() == MaskedRows::Uniform && visible)
      return fillRows(isLeast(logs), weights, 1.0 / key.getDimSize(2));
    return weights;
  }

  /// The product of [b, h, s, t] with [b, h, s, …] over the queries of all heads that share a key.
  Value sumQueries(Value scores, Value rows) {
    SmallVector<int64_t> contract =
        repeat == 1 ? SmallVector<int64_t>{2} : SmallVector<int64_t>{2, 3};
    SmallVector<int64_t> batch{0, 1};
    return b.make<DotGeneralOp>(grouped(scores), grouped(rows), batch, batch, contract, contract);
  }
};

} // namespace

SmallVector<Value> AttentionBackwardOp::decompose(ImplicitLocOpBuilder &builder) {
  return Backward(builder, *this).run();
}

SmallVector<Value> weft::decomposeAttention(ImplicitLocOpBuilder &builder, AttentionOp op,
                                            function_ref<Value(Value weights)> change) {
  return Forward(builder, op).run(change);
}

SmallVector<Value> AttentionOp::decompose(ImplicitLocOpBuilder &builder) {
  return decomposeAttention(builder, *this, [](Value weights) { return weights; });
}
