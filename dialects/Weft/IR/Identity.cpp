#include "dialects/Weft/IR/Identity.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace weft;

TypedAttr weft::getIdentity(ReduceKind kind, Type element) {
  if (kind == ReduceKind::Sum)
    return Builder(element.getContext()).getZeroAttr(element);
  bool isMax = kind == ReduceKind::Max;
  if (auto number = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = number.getFloatSemantics();
    return FloatAttr::get(number, kind == ReduceKind::Prod ? APFloat::getOne(semantics)
                                                           : APFloat::getInf(semantics, isMax));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || width == 1;
  if (kind == ReduceKind::Prod)
    return IntegerAttr::get(element, APInt(width, 1));
  if (isUnsigned)
    return IntegerAttr::get(element, isMax ? APInt::getZero(width) : APInt::getMaxValue(width));
  return IntegerAttr::get(element, isMax ? APInt::getSignedMinValue(width)
                                         : APInt::getSignedMaxValue(width));
}
