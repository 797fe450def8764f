//===- Decomposition.h - operations written out -----------------*- C++ -*-===//
//
// What operations mean in terms of simpler ones of the dialect:
//
//   %y = weft.softmax %x axis 1 : tensor<4x8xf32>
//
// is
//
//   %top = weft.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
//   %tops = weft.broadcast %top dims [0] : tensor<4xf32> to tensor<4x8xf32>
//   %shifted = weft.sub %x, %tops : tensor<4x8xf32>
//   %e = weft.exp %shifted : tensor<4x8xf32>
//   %sum = weft.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
//   %inverse = weft.reciprocal %sum : tensor<4xf32>
//   %inverses = weft.broadcast %inverse dims [0] : tensor<4xf32> to tensor<4x8xf32>
//   %y = weft.mul %e, %inverses : tensor<4x8xf32>
//
// Floats narrower than f32 are cast to f32 first, and the result back.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_DECOMPOSITION_H
#define WEFT_DIALECTS_WEFT_IR_DECOMPOSITION_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::func {
class FuncOp;
}

#include "dialects/Weft/IR/DecompositionInterface.h.inc"

namespace weft {

/// Writes out the operations inside `root` that can be, and for which `filter` holds.
void decomposeAll(
    mlir::Operation *root,
    llvm::function_ref<bool(mlir::Operation *)> filter = [](mlir::Operation *) { return true; });

/// What a function of scalars, of elementwise operations and constants, makes of each element of
/// operands of one shape; some may be scalars.
llvm::SmallVector<mlir::Value> mapElements(mlir::ImplicitLocOpBuilder &builder,
                                           mlir::func::FuncOp function, mlir::ValueRange operands,
                                           llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_DECOMPOSITION_H
