#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static Value scaled(Emitter &emit, Value x, double factor) {
  return factor == 1 ? x : emit.binary<MulOp>(x, emit.like(x, factor));
}

/// max(0, x) + min(0, α·(exp(x/α) - 1))
Value weft::frontend::emitCelu(Emitter &emit, Value x, double alpha) {
  Value zero = emit.like(x, 0), part = emit.binary<DivOp>(x, emit.like(x, alpha));
  Value curve = emit.binary<SubOp>(emit.unary<ExpOp>(part), emit.like(x, 1));
  curve = scaled(emit, curve, alpha);
  return emit.binary<AddOp>(emit.binary<MaxOp>(x, zero), emit.binary<MinOp>(curve, zero));
}

Value weft::frontend::emitElu(Emitter &emit, Value x, double alpha, double inputScale) {
  Value power = emit.unary<ExpOp>(scaled(emit, x, inputScale));
  Value curve = scaled(emit, emit.binary<SubOp>(power, emit.like(x, 1)), alpha);
  return emitAbove(emit, x, 0, curve, /*orEqual=*/true);
}

Value weft::frontend::emitAbove(Emitter &emit, Value x, double bound, Value otherwise,
                                bool orEqual) {
  CompareDirection direction = orEqual ? CompareDirection::GE : CompareDirection::GT;
  return emit.select(emit.compare(direction, x, emit.like(x, bound)), x, otherwise);
}

/// max(0, min(1, α·x + β))
Value weft::frontend::emitHardSigmoid(Emitter &emit, Value x, double alpha, double beta) {
  Value line = emit.binary<AddOp>(scaled(emit, x, alpha), emit.like(x, beta));
  return emit.binary<MaxOp>(emit.binary<MinOp>(line, emit.like(x, 1)), emit.like(x, 0));
}

Value weft::frontend::emitHardSwish(Emitter &emit, Value x) {
  return emit.binary<MulOp>(x, emitHardSigmoid(emit, x, 1.0 / 6, 0.5));
}

Value weft::frontend::emitLeakyRelu(Emitter &emit, Value x, double slope) {
  return emitAbove(emit, x, 0, scaled(emit, x, slope), /*orEqual=*/true);
}

/// x · tanh(softplus(x))
Value weft::frontend::emitMish(Emitter &emit, Value x) {
  return emit.binary<MulOp>(x, emit.unary<TanhOp>(emitSoftplus(emit, x)));
}

Value weft::frontend::emitRelu(Emitter &emit, Value x) {
  Value zero = emit.like(x, 0);
  return emit.select(emit.compare(CompareDirection::LE, x, zero), zero, x); // a NaN stays one
}

Value weft::frontend::emitSelu(Emitter &emit, Value x, double alpha, double gamma) {
  return scaled(emit, emitElu(emit, x, alpha), gamma);
}

/// x + bias below -λ, x - bias above λ, else 0
Value weft::frontend::emitShrink(Emitter &emit, Value x, double lambda, double bias) {
  Value low = emit.compare(CompareDirection::LT, x, emit.like(x, -lambda));
  Value high = emit.compare(CompareDirection::GT, x, emit.like(x, lambda));
  Value upper = emit.select(high, emit.binary<SubOp>(x, emit.like(x, bias)), emit.like(x, 0));
  return emit.select(low, emit.binary<AddOp>(x, emit.like(x, bias)), upper);
}

Value weft::frontend::emitSilu(Emitter &emit, Value x) {
  return emit.binary<MulOp>(x, emit.unary<SigmoidOp>(x));
}

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which does not overflow.
Value weft::frontend::emitSoftplus(Emitter &emit, Value x) {
  Value falling = emit.unary<ExpOp>(emit.unary<NegOp>(emit.unary<AbsOp>(x)));
  return emit.binary<AddOp>(emit.binary<MaxOp>(x, emit.like(x, 0)), emit.unary<Log1pOp>(falling));
}

/// x / (1 + |x|)
Value weft::frontend::emitSoftsign(Emitter &emit, Value x) {
  return emit.binary<DivOp>(x, emit.binary<AddOp>(emit.unary<AbsOp>(x), emit.like(x, 1)));
}
