//===- Verify.h - checks that several verifiers share -----------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_VERIFY_H
#define WEFT_DIALECTS_WEFT_IR_VERIFY_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace weft {

/// The shape of a tensor value or type.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Type type) {
  return mlir::cast<mlir::ShapedType>(type).getShape();
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return shapeOf(value.getType()); }
inline int64_t rankOf(mlir::Value value) { return shapeOf(value).size(); }
inline mlir::Type elementOf(mlir::Value value) {
  return mlir::cast<mlir::ShapedType>(value.getType()).getElementType();
}

/// `[4, 8]`, for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Fails unless 0 ≤ `value` < `limit`.
mlir::LogicalResult verifyIndex(mlir::Operation *op, llvm::StringRef what, int64_t value,
                                int64_t limit);

/// Fails unless `dims` are strictly increasing within [0, rank).
mlir::LogicalResult verifyDims(mlir::Operation *op, llvm::StringRef what,
                               llvm::ArrayRef<int64_t> dims, int64_t rank);

/// Fails unless `values` has `count` entries.
mlir::LogicalResult verifyCount(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> values, int64_t count);

/// Fails unless the value's shape is `expected`.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what, mlir::Value value,
                                llvm::ArrayRef<int64_t> expected);

/// Fails unless the value's element type is `expected`.
mlir::LogicalResult verifyElement(mlir::Operation *op, llvm::StringRef what, mlir::Value value,
                                  mlir::Type expected);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_VERIFY_H
