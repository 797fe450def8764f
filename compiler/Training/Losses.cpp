#include "compiler/Training/Losses.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Whole tensors
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> allDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
}

Value weft::buildSum(TensorBuilder &b, Value x) {
  return rankOf(x) == 0 ? x : b.reduce(ReduceKind::Sum, x, allDims(x));
}

Value weft::buildMean(TensorBuilder &b, Value x) {
  Value sum = buildSum(b, x);
  return b.mul(sum, b.splat(sum, 1.0 / cast<ShapedType>(x.getType()).getNumElements()));
}

Value weft::buildMean(TensorBuilder &b, const LabelLosses &losses) {
  return b.make<DivOp>(buildSum(b, losses.losses), buildSum(b, losses.weights));
}

//===----------------------------------------------------------------------===//
// Of elements
//===----------------------------------------------------------------------===//

Value weft::buildSquaredError(TensorBuilder &b, Value x, Value y) {
  Value difference = b.sub(x, y);
  return b.mul(difference, difference);
}

/// max(x, 0) - x·y + log(1 + exp(-|x|)), which overflows for no x.
Value weft::buildBinaryCrossEntropy(TensorBuilder &b, Value logits, Value labels) {
  Value positive = b.make<MaxOp>(logits, b.splat(logits, 0));
  Value distance = b.make<NegOp>(b.make<AbsOp>(logits));
  Value soft = b.make<Log1pOp>(b.make<ExpOp>(distance));
  return b.add(b.sub(positive, b.mul(logits, labels)), soft);
}

//===----------------------------------------------------------------------===//
// Of classes
//===----------------------------------------------------------------------===//

namespace {
/// The labels of a loss, checked.
class Labels {
public:
  Labels(TensorBuilder &b, Value labels, Value logits, const LabelOptions &options)
      : b(b), options(options), classes(shapeOf(logits)[options.axis]) {
    if (cast<ShapedType>(labels.getType()).getElementTypeBitWidth() < 32) // not all classes
      labels = b.castTo(labels, IntegerType::get(labels.getContext(), 64));
    if (options.ignored)
      counts = b.make<CompareOp>(CompareDirection::NE, labels, ignoredLike(labels));
    // An ignored label may lie anywhere; it reads class 0.
    safe = counts ? b.make<SelectOp>(counts, labels, zerosLike(labels)) : labels;
  }

  /// The element of each label's class.
  Value pick(Value logits) const {
    Value positions =
        b.make<IotaOp>(RankedTensorType::get(shapeOf(logits), elementOf(safe)), options.axis);
    Value chosen =
        b.make<CompareOp>(CompareDirection::EQ, positions, b.spread(safe, logits, options.axis));
    return b.reduce(ReduceKind::Sum, b.make<SelectOp>(chosen, logits, b.splat(logits, 0)),
                    options.axis);
  }
  /// The weight of each label's class. The look-up is what checks labels, on any mesh: it has a
  /// table of all classes even where those of the logits are split.
  Value weights(Type element) const {
    Value table = options.classWeights;
    if (!table)
      table = b.splat(RankedTensorType::get({classes}, element), 1.0);
    Type bits = IntegerType::get(element.getContext(), 64, IntegerType::Unsigned);
    Value found = b.make<GatherOp>(b.castTo(table, element), b.castTo(safe, bits), 0);
    return counted(found);
  }
  /// `values` where labels count, else 0.
  Value counted(Value values) const {
    return counts ? b.make<SelectOp>(counts, values, b.splat(values, 0)) : values;
  }

private:
  Value integers(Value labels, int64_t number) const {
    auto type = cast<RankedTensorType>(labels.getType());
    unsigned width = type.getElementTypeBitWidth();
    APInt value(width, number, /*isSigned=*/true, /*implicitTrunc=*/true);
    return b.make<ConstantOp>(DenseElementsAttr::get(type, value));
  }
  Value ignoredLike(Value labels) const { return integers(labels, *options.ignored); }
  Value zerosLike(Value labels) const { return integers(labels, 0); }

  TensorBuilder &b;
  const LabelOptions &options;
  int64_t classes;
  Value counts; ///< null: all do
  Value safe;   ///< the labels that count, 0 elsewhere
};

/// What all rows of logits are computed with.
struct Rows {
  Value shifted; ///< x - m
  Value max;     ///< m
  Value logSum;  ///< log Σ exp(x - m)
};
} // namespace

static Rows reduceRows(TensorBuilder &b, Value logits, int64_t axis) {
  Value max = b.make<StopGradientOp>(b.reduce(ReduceKind::Max, logits, axis));
  Value shifted = b.sub(logits, b.spread(max, logits, axis));
  Value sum = b.reduce(ReduceKind::Sum, b.make<ExpOp>(shifted), axis);
  return {shifted, max, b.make<LogOp>(sum)};
}

Value weft::buildLogSoftmax(TensorBuilder &b, Value logits, int64_t axis) {
  Rows rows = reduceRows(b, logits, axis);
  return b.sub(rows.shifted, b.spread(rows.logSum, logits, axis));
}

LabelLosses weft::buildCrossEntropy(TensorBuilder &b, Value logits, Value labels,
                                    const LabelOptions &options) {
  logits = b.widen(logits);
  if (options.smoothing != 0)
    return buildNegativeLogLikelihood(b, buildLogSoftmax(b, logits, options.axis), labels, options);
  Labels checked(b, labels, logits, options);
  Rows rows = reduceRows(b, logits, options.axis);
  Value picked = checked.pick(rows.shifted);
  Value weights = checked.weights(elementOf(logits));
  return {b.mul(checked.counted(b.sub(rows.logSum, picked)), weights), weights};
}

LabelLosses weft::buildNegativeLogLikelihood(TensorBuilder &b, Value logProbabilities, Value labels,
                                             const LabelOptions &options) {
  Labels checked(b, labels, logProbabilities, options);
  Value weights = checked.weights(elementOf(logProbabilities));
  Value picked = checked.counted(checked.pick(logProbabilities)); // may be infinite elsewhere
  Value losses = b.make<NegOp>(b.mul(picked, weights));
  if (options.smoothing == 0)
    return {losses, weights};
  Value all = logProbabilities;
  if (options.classWeights)
    all = b.mul(all, b.broadcast(options.classWeights, cast<RankedTensorType>(all.getType()),
                                 options.axis));
  Value sum = checked.counted(b.reduce(ReduceKind::Sum, all, options.axis));
  double share = options.smoothing / shapeOf(logProbabilities)[options.axis];
  Value exact = b.mul(losses, b.splat(losses, 1 - options.smoothing));
  return {b.sub(exact, b.mul(sum, b.splat(sum, share))), weights};
}
