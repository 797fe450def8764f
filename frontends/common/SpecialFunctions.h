//===- SpecialFunctions.h - beyond the elementary functions -----*- C++ -*-===//
//
// Functions of one float that weft has no operation for, each of weft operations. They keep the
// sign of zeros and do not overflow before their results do.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_SPECIALFUNCTIONS_H
#define WEFT_FRONTENDS_COMMON_SPECIALFUNCTIONS_H

#include "frontends/common/Emitter.h"

namespace weft::frontend {

// Computed in the operand's type.

mlir::Value emitAcosh(Emitter &emit, mlir::Value x);
mlir::Value emitAsinh(Emitter &emit, mlir::Value x);
mlir::Value emitAtanh(Emitter &emit, mlir::Value x);
/// 1 - erf(x), with the absolute error of erf.
mlir::Value emitErfc(Emitter &emit, mlir::Value x);

// Approximations, for operands of f32 or f64 (see emitWide).

/// The inverse of erf: infinite at -1 and 1, NaN beyond.
mlir::Value emitErfInv(Emitter &emit, mlir::Value x);
/// log |Γ(x)|
mlir::Value emitLgamma(Emitter &emit, mlir::Value x);
/// The derivative of log Γ(x); NaN at its poles, 0, -1, -2, ….
mlir::Value emitDigamma(Emitter &emit, mlir::Value x);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_SPECIALFUNCTIONS_H
