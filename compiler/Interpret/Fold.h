//===- Fold.h - constant folding with the interpreter -----------*- C++ -*-===//
//
// What importers and canonicalisation use to compute shape arithmetic, masks and position tables.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_INTERPRET_FOLD_H
#define WEFT_COMPILER_INTERPRET_FOLD_H

#include "compiler/Interpret/Tensor.h"
#include "mlir/IR/Operation.h"

namespace weft {

/// What evaluating an operation costs, from above: bytes of its operands and results, or
/// multiplications where those are more; 0 where all values are splats and stay so. Saturates.
uint64_t foldingCost(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

/// The most that evaluating one operation may cost, some tenths of a second.
constexpr uint64_t maxFoldingCost = uint64_t(1) << 28;

/// The value of a weft.constant, or of a weft.load of a weight of kind `constant` whose storage is
/// held in the module. Fails silently for everything else.
mlir::FailureOr<Tensor> constantValue(mlir::Value value);

/// The results of an operation of the weft dialect whose operands are all constant, as far as
/// `constantValue` knows; fails silently if one is not, if that would cost more than
/// `maxFoldingCost`, and where the operation has no legal value. Does not change the IR. Large
/// results that are not splats are left to `toConstant` to place.
mlir::FailureOr<llvm::SmallVector<Tensor>> foldConstants(mlir::Operation *op);

/// The attribute that holds a folded value: dense elements where weft.constant may have them (a
/// splat, or few elements), else a resource named `name`, for a weight of kind `constant`.
mlir::ElementsAttr toConstant(const Tensor &value, llvm::StringRef name);

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_FOLD_H
