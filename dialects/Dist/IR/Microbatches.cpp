#include "dialects/Dist/IR/DistDialect.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

FactorRule AccumulateOp::getFactorRule() {
  return FactorRule::elementwise(*this, SumLinearity::Joint);
}

LogicalResult AccumulateOp::verify() {
  Type from = getElementTypeOrSelf(getInput()), to = getElementTypeOrSelf(getResult());
  bool alike = isa<FloatType>(from) == isa<FloatType>(to);
  if (!alike || from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return emitOpError() << "expected a sum of its operand's kind of type, no narrower (C1), got: "
                         << to << " of " << from;
  Operation *before = getOnto() ? getOnto().getDefiningOp() : nullptr;
  if (getOnto() && (!isa_and_nonnull<AccumulateOp>(before) || getOnto().getType() != getType()))
    return emitOpError() << "expected another sum of type " << getType()
                         << " to go onto (C2), got: " << getOnto();
  return success();
}

/// Alike on every device.
FactorRule MicrobatchOp::getFactorRule() { return FactorRule::replicated(*this); }
