//===- DType.h - element types: sizes, names, conversions -------*- C++ -*-===//

#ifndef WEFT_RUNTIME_SUPPORT_DTYPE_H
#define WEFT_RUNTIME_SUPPORT_DTYPE_H

#include "runtime/Program/executable.pb.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::runtime {

using program::DType;

/// Bytes of one element in storage and arenas (i1 takes one byte); 0 for an unknown type.
int64_t getElementSize(DType dtype);

/// The name used in messages and JSON: "f32", "bf16", "i1" …
std::string_view getName(DType dtype);

bool isFloat(DType dtype);

/// IEEE half and bfloat16 to and from float, round to nearest even; NaN stays NaN.
float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
float bfloatToFloat(uint16_t bits);
uint16_t floatToBfloat(float value);

/// `count` elements of f16, bf16 or f32 as float.
void widen(DType dtype, const void *from, float *to, int64_t count);
/// `count` floats as f16, bf16 or f32, as floatToHalf() and floatToBfloat() round them.
void narrow(DType dtype, const float *from, void *to, int64_t count);

/// Element `index` of an array of `dtype` as double (64-bit integers are rounded).
double readAsDouble(DType dtype, const void *data, int64_t index);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_DTYPE_H
