// Normalisations that weft has no operation for.

#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// √(variance + ε) inverted, as a factor.
Value weft::frontend::emitInverseDeviation(Emitter &emit, Value variance, double epsilon) {
  return emit.unary<RsqrtOp>(emit.binary<AddOp>(variance, emit.like(variance, epsilon)));
}

Value weft::frontend::emitPerChannel(Emitter &emit, Value vector, Value x) {
  expectExactRank(vector, 1);
  if (shapeOf(vector)[0] != shapeOf(x)[1])
    throw ImportError("expected one entry a channel of " + describe(x) + ", got " +
                      describe(vector));
  return emit.broadcastDims(emit.cast(vector, elementOf(x)), shapeOf(x), {1});
}

Value weft::frontend::emitStandardize(Emitter &emit, Value x, ArrayRef<int64_t> dims,
                                      double epsilon) {
  Value centred = emit.binary<SubOp>(x, emit.mean(x, dims, true));
  Value variance = emit.mean(emit.binary<MulOp>(centred, centred), dims, true);
  return emit.binary<MulOp>(centred, emitInverseDeviation(emit, variance, epsilon));
}

Value weft::frontend::emitScaleAndShift(Emitter &emit, Value x, Value scale, Value bias) {
  if (scale)
    x = emit.binary<MulOp>(x, emitPerChannel(emit, scale, x));
  if (bias)
    x = emit.binary<AddOp>(x, emitPerChannel(emit, bias, x));
  return x;
}

/// (x - mean) · (scale / √(variance + ε)) + bias: the factor is one a channel.
Value weft::frontend::emitBatchNorm(Emitter &emit, Value x, const ChannelStatistics &statistics,
                                    Value scale, Value bias, double epsilon) {
  Type type = elementOf(x);
  Value factor = emitInverseDeviation(emit, emit.cast(statistics.variance, type), epsilon);
  if (scale)
    factor = emit.binary<MulOp>(emit.cast(scale, type), factor);
  Value centred = emit.binary<SubOp>(x, emitPerChannel(emit, statistics.mean, x));
  return emitScaleAndShift(emit, centred, factor, bias);
}

Value weft::frontend::emitGroupStandardize(Emitter &emit, Value x, int64_t groups, double epsilon) {
  expectRank(x, 2);
  int64_t channels = shapeOf(x)[1];
  if (groups < 1 || channels % groups != 0)
    throw ImportError(std::to_string(groups) + " groups do not divide the channels of " +
                      describe(x));
  int64_t outer = shapeOf(x)[0] * groups;
  Shape parts{shapeOf(x)[0], groups, outer == 0 ? 0 : typeOf(x).getNumElements() / outer};
  Value normal = emitStandardize(emit, emit.reshape(x, parts), {2}, epsilon);
  return emit.reshape(normal, shapeOf(x));
}

Value weft::frontend::emitInstanceStandardize(Emitter &emit, Value x, double epsilon) {
  expectRank(x, 3);
  Shape dims = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(2, typeOf(x).getRank()));
  return emitStandardize(emit, x, dims, epsilon);
}
