#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which does not overflow.
Value weft::frontend::emitSoftplus(Emitter &emit, Value x) {
  Value falling = emit.unary<ExpOp>(emit.unary<NegOp>(emit.unary<AbsOp>(x)));
  return emit.binary<AddOp>(emit.binary<MaxOp>(x, emit.like(x, 0)), emit.unary<Log1pOp>(falling));
}
