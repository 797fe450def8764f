//===- JoinParts.h - gradients of what is read in slices --------*- C++ -*-===//
//
// The gradient of a slice is one of the whole that is zero elsewhere. Where slices lie side by
// side, as the queries, keys and values that one product makes, their gradients are joined, and not
// added:
//
//   %q = slice %x [0, 64)        add (pad %dq), (pad %dk), (pad %dv)
//   %k = slice %x [64, 128)  →
//   %v = slice %x [128, 192)     concat %dq, %dk, %dv
//
// Nothing is added to zeros; and a sum over devices or microbatches, which no padding lets through
// (it is longer than its operand), may wait until the whole is there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_JOINPARTS_H
#define WEFT_COMPILER_TRAINING_JOINPARTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// Whether a value is another one with zeros before or behind it, along one dimension.
bool isPartAmongZeros(mlir::Value value);

/// Joins such values of one type that lie side by side: their sum is the sum of what is returned. A
/// value that overlaps another one stays as it is.
llvm::SmallVector<mlir::Value> joinParts(mlir::ImplicitLocOpBuilder &builder,
                                         llvm::ArrayRef<mlir::Value> parts);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_JOINPARTS_H
