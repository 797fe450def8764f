//===- RecomputedOps.h - what a backward pass computes again ----*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_RECOMPUTEDOPS_H
#define WEFT_COMPILER_SHARDING_RECOMPUTEDOPS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {

/// The operations behind a step's loss that make nothing but what the forward pass made: barriers
/// of its values, and operations like one of its own on such values.
class RecomputedOps {
public:
  /// `loss` is the last operation of the forward pass (BackwardPass.h); null: all is forward.
  RecomputedOps(mlir::Block &body, mlir::Operation *loss);

  bool contains(mlir::Operation *op) const { return again.contains(op); }

private:
  void addForward(mlir::Operation *op);
  void addBackward(mlir::Operation *op);
  mlir::Operation *findEqual(mlir::Operation *op) const;
  size_t hash(mlir::Operation *op) const;

  llvm::DenseSet<mlir::Operation *> again;
  llvm::DenseMap<mlir::Value, mlir::Value> equal; ///< the value of the forward pass that one is
  llvm::DenseMap<size_t, llvm::SmallVector<mlir::Operation *, 1>> forward; ///< by hash
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_RECOMPUTEDOPS_H
