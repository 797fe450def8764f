//===- FloatBits.h - the bits of floats, by arithmetic ----------*- C++ -*-===//
//
// Weft has no operation that takes a float's bits; sign, exponent and mantissa are found, and put
// together, by arithmetic that is exact. Random numbers are made so: bits below an exponent of 0.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_FLOATBITS_H
#define WEFT_FRONTENDS_STABLEHLO_FLOATBITS_H

#include "frontends/common/Emitter.h"

namespace weft::frontend::stablehlo {

/// The f32 whose bits an ui32 holds.
mlir::Value emitFloatOfBits(Emitter &emit, mlir::Value bits);
/// The bits of an f32, as ui32. All NaNs are taken for the usual one.
mlir::Value emitBitsOfFloat(Emitter &emit, mlir::Value x);

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_FLOATBITS_H
