// Functions of numbers that are several weft operations.

#include "frontends/common/Composites.h"
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The quotient's remainder moved to the divisor's sign.
Value weft::frontend::emitFloorRemainder(Emitter &emit, Value lhs, Value rhs) {
  std::tie(lhs, rhs) = emit.together(lhs, rhs);
  Value rest = emit.binary<RemOp>(lhs, rhs);
  if (elementOf(lhs).isUnsignedInteger())
    return rest;
  Value zero = emit.like(rest, 0);
  Value otherSign = emit.binary<XorOp>(emit.compare(CompareDirection::LT, rest, zero),
                                       emit.compare(CompareDirection::LT, rhs, zero));
  Value wrong = emit.binary<AndOp>(otherSign, emit.compare(CompareDirection::NE, rest, zero));
  return emit.select(wrong, emit.binary<AddOp>(rest, rhs), rest);
}

/// Towards zero.
Value weft::frontend::emitTruncate(Emitter &emit, Value x) {
  Value negative = emit.compare(CompareDirection::LT, x, emit.like(x, 0));
  return emit.select(negative, emit.unary<CeilOp>(x), emit.unary<FloorOp>(x));
}

/// max + log Σ exp(x - max); a maximum that is not finite is left out of it, as numpy's logaddexp
/// does.
Value weft::frontend::emitLogSumExp(Emitter &emit, Value x, ArrayRef<int64_t> dims, bool keep) {
  Value most = emit.reduce(ReduceKind::Max, x, dims, true);
  Value infinite = emit.create<IsInfOp>(typeOf(most).clone(emit.builder.getI1Type()), most);
  Value base = emit.select(infinite, emit.like(most, 0), most);
  Value exponentials = emit.unary<ExpOp>(emit.binary<SubOp>(x, base));
  Value sum = emit.unary<LogOp>(emit.reduce(ReduceKind::Sum, exponentials, dims, true));
  Shape shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(base)))
    if (keep || !llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(size);
  return emit.reshape(emit.binary<AddOp>(base, sum), shape);
}

/// x - max - log Σ exp(x - max)
Value weft::frontend::emitLogSoftmax(Emitter &emit, Value x, int64_t axis) {
  Value shifted = emit.binary<SubOp>(x, emit.reduce(ReduceKind::Max, x, {axis}, true));
  Value sum = emit.reduce(ReduceKind::Sum, emit.unary<ExpOp>(shifted), {axis}, true);
  return emit.binary<SubOp>(shifted, emit.unary<LogOp>(sum));
}

Value weft::frontend::emitVariance(Emitter &emit, Value x, ArrayRef<int64_t> dims,
                                   double correction, bool keep) {
  double count = 1;
  for (int64_t dim : dims)
    count *= double(shapeOf(x)[dim]);
  Value centred = emit.binary<SubOp>(x, emit.mean(x, dims, true));
  Value sum = emit.reduce(ReduceKind::Sum, emit.binary<MulOp>(centred, centred), dims, keep);
  return emit.binary<DivOp>(sum, emit.like(sum, std::max(count - correction, 0.0)));
}

/// max + log(1 + exp(-|x - y|)); equal infinities stay what they are.
Value weft::frontend::emitLogAddExp(Emitter &emit, Value x, Value y) {
  Value distance = emit.unary<AbsOp>(emit.binary<SubOp>(x, y));
  Value soft = emit.unary<Log1pOp>(emit.unary<ExpOp>(emit.unary<NegOp>(distance)));
  Value most = emit.binary<MaxOp>(x, y);
  Value same = emit.compare(CompareDirection::EQ, x, y);
  Value twice = emit.binary<AddOp>(most, emit.like(most, std::numbers::ln2));
  return emit.select(same, twice, emit.binary<AddOp>(most, soft));
}
