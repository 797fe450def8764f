//===- Division.h - quotients rounded down ----------------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_DIVISION_H
#define WEFT_FRONTENDS_COMMON_DIVISION_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

/// The quotient rounded down, of floats from their exact remainder: 1 by 0.1 is 9. Operands
/// broadcast. Throws ImportError where they are of different types.
mlir::Value emitFloorQuotient(Emitter &emit, mlir::Value lhs, mlir::Value rhs);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_DIVISION_H
