//===- Update.h - results that are mostly an operand's elements -*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_UPDATE_H
#define WEFT_DIALECTS_WEFT_IR_UPDATE_H

#include "mlir/IR/OpDefinition.h"

#include "dialects/Weft/IR/UpdateInterface.h.inc"

#endif // WEFT_DIALECTS_WEFT_IR_UPDATE_H
