//===- DType.h - the element types of tensors -------------------*- C++ -*-===//
//
// Where MLIR's types would do, but code that must not touch a context, or switches over all of
// them, wants an enum. The executable's has the same cases (compiler/Executable/ProtoEnums.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_SUPPORT_DTYPE_H
#define WEFT_DIALECTS_SUPPORT_DTYPE_H

#include "mlir/IR/Types.h"

#include <cstdint>
#include <optional>

namespace weft {

/// The element types that tensors may have. Signless integers count as signed, but for i1, which
/// holds 0 or 1 in a byte.
enum class DType : uint8_t { I1, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64 };

/// The element type; none for types that no tensor value can have (i7, si8, f8 …).
std::optional<DType> getDType(mlir::Type type);

/// Bytes that one element occupies.
int64_t elementBytes(DType type);
/// Bits that an element's value has: 1 of i1.
inline int64_t elementBits(DType type) { return type == DType::I1 ? 1 : 8 * elementBytes(type); }

inline bool isFloat(DType type) { return type >= DType::F16; }
inline bool isUnsigned(DType type) { return type >= DType::U8 && type <= DType::U64; }

} // namespace weft

#endif // WEFT_DIALECTS_SUPPORT_DTYPE_H
