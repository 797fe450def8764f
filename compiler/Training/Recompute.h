//===- Recompute.h - what the backward pass keeps ---------------*- C++ -*-===//
//
// The backward pass reads values of the forward pass: residuals. Some are kept until then, the
// others are computed again from those that are, just before they are read first:
//
//   %h = weft.dot_general …                 %h = weft.dot_general …
//   %a = weft.gelu tanh %h                  %a = weft.gelu tanh %h
//   …                                       …
//   (loss)                            →     (loss)
//   …                                       %k = weft.barrier %h
//                                           %b = weft.gelu tanh %k
//   %dw = weft.dot_general %a, %g           %dw = weft.dot_general %b, %g
//
// Every kept value is read through a barrier, so that no later pass takes a value that is computed
// again for the first one, and no kernel of the forward pass computes what the backward pass wants.
// What is computed again is computed by the same operations from the same values: by these,
// gradients do not change by a bit. Splits and layouts are chosen afterwards, for each mode.
//
// Modes, by what may be computed again:
//
//   none       chains of a few additions an element (casts, masks, residual sums), what only moves
//              elements, and normalisations, whose rows are read for their gradients anyway
//   selective  everything that computes element by element, too: activations, dropout
//   full       everything in a block of the model (compiler/Graph/Blocks.h) but the last one, from
//              what goes into it; the last one as in selective
//
// In the first two, a value is computed again only where that keeps fewer bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_RECOMPUTE_H
#define WEFT_COMPILER_TRAINING_RECOMPUTE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

enum class RecomputeMode { None, Selective, Full };

/// Which values of the forward pass are kept for the backward pass: those before and behind `loss`
/// in the one block of `main`.
struct Residuals {
  llvm::SetVector<mlir::Value> kept;
  int64_t keptBytes = 0;

  Residuals(mlir::func::FuncOp main, mlir::Operation *loss, RecomputeMode mode);
};

/// Lets the backward pass read what is kept through barriers, and compute the rest again.
void recompute(mlir::func::FuncOp main, mlir::Operation *loss, const Residuals &residuals);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_RECOMPUTE_H
