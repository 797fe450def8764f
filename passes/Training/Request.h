//===- Request.h - the request that the training passes share ---*- C++ -*-===//

#ifndef WEFT_PASSES_TRAINING_REQUEST_H
#define WEFT_PASSES_TRAINING_REQUEST_H

#include "compiler/Plan/plan.pb.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace weft {

/// The scalar of f32 that the loss is multiplied by before gradients, a state where it is dynamic;
/// none where the loss is not scaled.
inline constexpr llvm::StringLiteral lossScaleName = "optimizer.scale";

/// Reads the text form of plan::Training, as passes have it for an option, and validates it.
/// Reports what is wrong.
std::optional<plan::Training> readTraining(mlir::MLIRContext *context, const std::string &text);

/// @main of one block; null, with an error on the module, where there is none.
mlir::func::FuncOp findMain(mlir::ModuleOp module);

/// The number of the result of @main with this `weft.role`.
std::optional<unsigned> findRole(mlir::func::FuncOp main, llvm::StringRef role);

/// Attributes of a result of @main.
mlir::DictionaryAttr resultAttrs(mlir::MLIRContext *context, llvm::StringRef name,
                                 llvm::StringRef role);

/// Appends a result to @main.
void appendResult(mlir::func::FuncOp main, mlir::Value value, llvm::StringRef name,
                  llvm::StringRef role);

/// Notes on the module of a training step what later phases and the runtime know of it; the
/// parameters by their names.
void describeStep(mlir::ModuleOp module, const plan::Training &request, mlir::ArrayAttr parameters);

/// An error about the request as such, which is at no place in the module.
mlir::InFlightDiagnostic emitRequestError(mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_PASSES_TRAINING_REQUEST_H
