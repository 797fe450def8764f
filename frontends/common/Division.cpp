#include "frontends/common/Division.h"

#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Floats by C10's div_floor_floating: the dividend less its remainder is a whole multiple but for
/// rounding. A divisor of zero gives the quotient.
Value weft::frontend::emitFloorQuotient(Emitter &emit, Value lhs, Value rhs) {
  std::tie(lhs, rhs) = emit.together(lhs, rhs);
  if (!isa<FloatType>(elementOf(lhs))) {
    Value rest = emitFloorRemainder(emit, lhs, rhs);
    return emit.binary<DivOp>(emit.binary<SubOp>(lhs, rest), rhs);
  }
  Value rest = emit.binary<RemOp>(lhs, rhs), zero = emit.like(lhs, 0);
  Value quotient = emit.binary<DivOp>(emit.binary<SubOp>(lhs, rest), rhs);
  Value otherSign = emit.binary<XorOp>(emit.compare(CompareDirection::LT, rest, zero),
                                       emit.compare(CompareDirection::LT, rhs, zero));
  Value isAbove = emit.binary<AndOp>(otherSign, emit.compare(CompareDirection::NE, rest, zero));
  quotient = emit.select(isAbove, emit.binary<SubOp>(quotient, emit.like(lhs, 1)), quotient);
  Value isZero = emit.compare(CompareDirection::EQ, rhs, zero);
  return emit.select(isZero, emit.binary<DivOp>(lhs, rhs), emit.unary<RoundOp>(quotient));
}
