//===- Microbatches.h - what of a step is computed when ---------*- C++ -*-===//
//
// A function that goes through its batch in microbatches (weft.microbatches) computes for each what
// comes of the arguments that are of one microbatch (weft.microbatch_dim). What joins microbatches
// is a sum (dist.accumulate). One that depends on inputs alone is an *early* sum: it may be made
// before anything else, and used with every microbatch. A state that every microbatch changes
// (weft.each_microbatch) is of each what the one before it left; any other is what it was at the
// step's start.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_MICROBATCHES_H
#define WEFT_COMPILER_SHARDING_MICROBATCHES_H

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

/// On a call of a part: the first microbatch that it computes, and how many, one after another.
inline constexpr llvm::StringLiteral kMicrobatchesOfCallAttr = "weft.microbatches_of_call";
/// On a weight that holds a sum over microbatches while a step runs: its number. Those of one
/// number, which parts know by symbols of their own, are one memory.
inline constexpr llvm::StringLiteral kAccumulatorAttr = "weft.accumulator";
/// On a state that every microbatch changes, one after another.
inline constexpr llvm::StringLiteral kEachMicrobatchAttr = "weft.each_microbatch";
/// On an argument that another part hands over: `each`, if it is another value with each
/// microbatch, or `late`, if it depends on a sum over all.
inline constexpr llvm::StringLiteral kHandedAttr = "weft.handed";
/// What can be done where a step needs its whole batch, for messages.
inline constexpr llvm::StringLiteral kWholeBatchHint =
    "expected a step without microbatches (--accumulate), or one that takes several batches of the "
    "model (--accumulate-batches)";

class MicrobatchPhases {
public:
  explicit MicrobatchPhases(mlir::func::FuncOp main);

  /// Whether a value is another one with each microbatch.
  bool varies(mlir::Value value) const { return varying.contains(value); }
  /// Whether it depends on a sum that is there behind the last microbatch only.
  bool isLate(mlir::Value value) const { return late.contains(value); }
  /// Whether it depends on sums, early ones too.
  bool dependsOnSums(mlir::Value value) const { return summed.contains(value); }
  /// The symbol that an operation loads or stores, where that is a state which every microbatch
  /// changes; else null.
  mlir::StringAttr getCarried(mlir::Operation &op) const;

  llvm::SmallVector<dist::AccumulateOp> early, sums;

private:
  void addArgument(mlir::func::FuncOp main, mlir::BlockArgument argument);
  void visit(mlir::Operation &op);

  llvm::DenseSet<mlir::StringAttr> carried;
  llvm::DenseSet<mlir::Value> varying, late, summed, weighted;
};

/// Fails, after an error at the first operation that needs, with a microbatch, a sum over all.
mlir::LogicalResult checkSums(mlir::func::FuncOp main);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_MICROBATCHES_H
