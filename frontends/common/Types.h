//===- Types.h - tensor types of models -------------------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_TYPES_H
#define WEFT_FRONTENDS_COMMON_TYPES_H

#include "frontends/common/ImportError.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <string>

namespace weft::frontend {

using Shape = llvm::SmallVector<int64_t>;

/// No machine holds more bytes in a tensor, and sums of such sizes do not overflow.
constexpr int64_t maxTensorBytes = int64_t(1) << 48;
/// Constants of more bytes than this stay in their file and take no part in folding.
constexpr int64_t maxConstantBytes = 64 << 20;

/// A tensor type. Throws ImportError where a size is below 0 or the bytes exceed maxTensorBytes.
mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Bytes of a tensor in files: i1 takes one an element.
int64_t storageBytes(mlir::RankedTensorType type);

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }
inline mlir::Type elementOf(mlir::Value value) { return typeOf(value).getElementType(); }
/// `4x8xf32`, for messages.
std::string describe(mlir::RankedTensorType type);
inline std::string describe(mlir::Value value) { return describe(typeOf(value)); }
/// `[4, 8]`, for messages.
std::string describe(llvm::ArrayRef<int64_t> shape);

/// Throws ImportError unless the value is of a float type.
void expectFloat(mlir::Value value);
/// Throws ImportError unless the value has at least (exactly) this rank.
void expectRank(mlir::Value value, int64_t least);
void expectExactRank(mlir::Value value, int64_t rank);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_TYPES_H
