//===- Differentiate.h - reverse-mode differentiation -----------*- C++ -*-===//
//
// Appends to straight-line code the operations that compute gradients. Given
//
//   %w = weft.load @w : tensor<8xf32>
//   %y = weft.mul %x, %w : tensor<8xf32>
//   %z = weft.exp %y : tensor<8xf32>
//
// and the gradient %g of %z, the gradient of %w is
//
//   %dy = weft.mul %g, %z : tensor<8xf32>
//   %dw = weft.mul %dy, %x : tensor<8xf32>
//
// Each operation states its own part (DifferentiableOpInterface); operations are visited once, in
// reverse, and only between what is differentiated by and what has a gradient. Nothing here knows a
// loss or a model: seeds and variables may be values anywhere, so that a block or a stage is
// differentiated like a whole model.
//
// What is built for an operation whose source name is NAME is called grad:NAME, and so is the whole
// gradient of the value NAME.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_DIFFERENTIATE_H
#define WEFT_COMPILER_TRAINING_DIFFERENTIATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <variant>

namespace weft {

/// What derived names begin with.
inline constexpr llvm::StringLiteral gradientPrefix = "grad:";

/// Changes whenever the transform, or an optimizer, makes other operations or names; part of a
/// plan's fingerprint.
inline constexpr unsigned differentiateVersion = 2;

/// A value and its gradient, of one type.
struct Seed {
  mlir::Value value, gradient;
};

/// Builds the gradients of `variables`, of one block with the seeds' values, at the insertion
/// point, behind which nothing that they depend on is defined. A variable on which no seed depends
/// has none: null. Fails, with a diagnostic at the operation, where one in between has no gradient.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradients(mlir::OpBuilder &builder, llvm::ArrayRef<Seed> seeds,
               llvm::ArrayRef<mlir::Value> variables);

/// The sum of those that are not null; null where all are.
mlir::Value sumGradients(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> gradients);

/// What a function is differentiated by: the argument of a number, or the weight of a name.
using Variable = std::variant<unsigned, llvm::StringRef>;

/// Makes of f(x…) -> y… a function beside it, called `name`, of x… and the gradients of y…, that
/// returns y… and the gradients of the variables: zeros where a result does not depend on one.
/// Arguments and results of integers have no gradients. A stage of a model is such a function, with
/// the keys and values of earlier tokens among its arguments and results. Weights that it loads
/// nowhere, and variables that are no floats, are refused with a diagnostic.
mlir::FailureOr<mlir::func::FuncOp> differentiate(mlir::func::FuncOp function,
                                                  llvm::ArrayRef<Variable> variables,
                                                  llvm::StringRef name);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_DIFFERENTIATE_H
