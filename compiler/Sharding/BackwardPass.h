//===- BackwardPass.h - what stands behind a step's loss --------*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_BACKWARDPASS_H
#define WEFT_COMPILER_SHARDING_BACKWARDPASS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// The backward pass of a training step: what follows the operation that makes the loss. A function
/// without a loss has none.
class BackwardPass {
public:
  explicit BackwardPass(mlir::func::FuncOp main);

  /// Whether an operation that uses a load, or a view of it, stands in it.
  bool reads(mlir::Operation *load) const;

private:
  mlir::Operation *loss = nullptr; ///< what makes it
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_BACKWARDPASS_H
