//===- BackwardPass.h - what stands behind a step's loss --------*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_BACKWARDPASS_H
#define WEFT_COMPILER_SHARDING_BACKWARDPASS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// On an argument of a part that comes of a later one (dist.result_of): a gradient that a stage of
/// a training step is handed.
inline constexpr llvm::StringLiteral kOfLaterPartAttr = "weft.of_later_part";

/// The backward pass of a training step: what follows the operation that makes the loss; in a stage
/// without one, what begins with the first operation that reads a gradient of a later stage. A
/// function with neither has none.
class BackwardPass {
public:
  explicit BackwardPass(mlir::func::FuncOp main);

  /// What makes the loss, or stands last before the backward pass; null where there is none.
  mlir::Operation *getLoss() const { return loss; }

  /// Whether an operation that uses a load, or a view of it, stands in it.
  bool reads(mlir::Operation *load) const;

private:
  mlir::Operation *loss = nullptr;
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_BACKWARDPASS_H
