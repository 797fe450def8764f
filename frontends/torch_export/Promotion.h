//===- Promotion.h - the element type of results in ATen --------*- C++ -*-===//
//
// ATen's rule (c10/core/ScalarType.h, at::result_type): operands fall in three classes, tensors
// with dimensions, tensors without, and Python numbers, and each class has the type that its
// members promote to. A class counts only where it is of a higher category (bool < integer < float)
// than the classes before it. Python floats are of the default type, f32.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_PROMOTION_H
#define WEFT_FRONTENDS_TORCH_EXPORT_PROMOTION_H

#include "frontends/torch_export/Node.h"

namespace weft::frontend::aten {

class Promotion {
public:
  explicit Promotion(mlir::MLIRContext *context) : context(context) {}

  void add(mlir::Value tensor);
  void add(const Number &number);
  /// The type that all operands promote to.
  mlir::Type result() const;

private:
  mlir::MLIRContext *context;
  mlir::Type dimensioned, scalar, number;
};

/// The type to which two element types promote.
mlir::Type promoteTypes(mlir::Type a, mlir::Type b);

/// An argument that is a tensor or a number, cast to `element`; a number has rank 0.
mlir::Value operandAs(Node &node, llvm::StringRef name, mlir::Type element);

/// The common type of arguments that are tensors or numbers.
mlir::Type promotedType(Node &node, llvm::ArrayRef<llvm::StringRef> names);
/// As promotedType, with integers and bools as f32, for operators that have float results only.
mlir::Type promotedFloat(Node &node, llvm::ArrayRef<llvm::StringRef> names);

/// A scalar constant. Integers are kept exactly.
mlir::Value constantOf(Emitter &emit, const Number &number, mlir::Type element);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_PROMOTION_H
