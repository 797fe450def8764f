//===- AssignStages.h - which stage computes what of a step -----*- C++ -*-===//
//
// The stages of a training step. What the loss needs is assigned as in a model that infers: to the
// first stage whose end needs it. The rest, in its order, by what it reads that is larger than one
// number:
//
//   a gradient   is in the stage that makes it
//   a residual   of the forward pass is in the last stage that reads it there
//
// and what reads several, in the first of these stages: so gradients go from the last stage to the
// first. That of a weight is made in the weight's stage, or the first that has what it is made of.
// What reads states alone, the moments of an
// optimizer, goes where they are read with a gradient. What is made of single numbers (a learning
// rate, spread over a weight), or of inputs alone (a mask), is made anew in each stage.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_ASSIGNSTAGES_H
#define WEFT_COMPILER_SHARDING_ASSIGNSTAGES_H

#include "compiler/Sharding/PartAssignment.h"
#include "mlir/IR/Diagnostics.h"

namespace weft {

/// The stages of a step, whose loss `loss` makes, that end behind the values `ends`. Fails, after
/// an error, where a stage would be empty.
mlir::LogicalResult assignStages(mlir::func::FuncOp main, mlir::Operation *loss,
                                 llvm::ArrayRef<mlir::Value> ends, PartAssignment &result);

/// Begins the error that a value is no end of a part.
mlir::InFlightDiagnostic refuseCut(mlir::Value end);

/// Whether a part may end behind a value, which no part before it may hold; else an error.
mlir::LogicalResult checkCut(mlir::Value end, llvm::ArrayRef<mlir::Value> ends,
                             const PartAssignment &assignment);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_ASSIGNSTAGES_H
