//===- Identity.h - what changes nothing in a reduction ---------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_IDENTITY_H
#define WEFT_FRONTENDS_COMMON_IDENTITY_H

#include "dialects/Weft/IR/WeftDialect.h"

namespace weft::frontend {

/// The number that changes no element of this type that it is joined with. Bounds of wide integers
/// are rounded away from zero; as elements they saturate.
double identityOf(ReduceKind kind, mlir::Type element);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_IDENTITY_H
