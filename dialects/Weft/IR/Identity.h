//===- Identity.h - what changes nothing in a reduction ---------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_IDENTITY_H
#define WEFT_DIALECTS_WEFT_IR_IDENTITY_H

#include "dialects/Support/ReduceKind.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace weft {

/// What a reduction of elements of this type starts from: 0, 1, the least value (max), the greatest
/// (min).
mlir::TypedAttr getIdentity(ReduceKind kind, mlir::Type element);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_IDENTITY_H
