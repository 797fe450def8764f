//===- WeftDialect.h - the weft dialect -------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_WEFTDIALECT_H
#define WEFT_DIALECTS_WEFT_IR_WEFTDIALECT_H

#include "dialects/Support/MaskedRows.h"
#include "dialects/Weft/IR/Decomposition.h"
#include "dialects/Weft/IR/Elementwise.h"
#include "dialects/Weft/IR/FactorRule.h"
#include "dialects/Weft/IR/Gradient.h"
#include "dialects/Weft/IR/Update.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weft {
/// The tensor type of the same shape with another element type.
inline mlir::Type withElementType(mlir::Type type, mlir::Type element) {
  return mlir::cast<mlir::RankedTensorType>(type).clone(element);
}
inline mlir::Type boolType(mlir::Type type) { return mlir::IntegerType::get(type.getContext(), 1); }
} // namespace weft

#include "dialects/Weft/IR/WeftDialect.h.inc"
#include "dialects/Weft/IR/WeftEnums.h.inc"
namespace weft {
/// Whether the step changes weights of the kind: they may be stored.
inline bool isChanged(WeightKind kind) {
  return kind == WeightKind::State || kind == WeightKind::Trained;
}
} // namespace weft
#define GET_ATTRDEF_CLASSES
#include "dialects/Weft/IR/WeftAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Weft/IR/WeftOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_IR_WEFTDIALECT_H
