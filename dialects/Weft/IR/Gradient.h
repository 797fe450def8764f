//===- Gradient.h - how gradients flow through an operation -----*- C++ -*-===//
//
// Every operation says how the gradients of its operands follow from those of its results, in
// operations of the dialect. Of %y = weft.mul %a, %b, with the gradient %g of %y:
//
//   %da = weft.mul %g, %b
//   %db = weft.mul %g, %a
//
// Only what is wanted is built: a product with a frozen weight has no weight gradient. Where the
// loss has several uses of a value, whoever differentiates adds up their gradients.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_GRADIENT_H
#define WEFT_DIALECTS_WEFT_IR_GRADIENT_H

#include "mlir/IR/OpDefinition.h"

namespace weft {
class GradientBuilder;
} // namespace weft

#include "dialects/Weft/IR/GradientInterface.h.inc"

#endif // WEFT_DIALECTS_WEFT_IR_GRADIENT_H
