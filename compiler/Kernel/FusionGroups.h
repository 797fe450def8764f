//===- FusionGroups.h - which operations share a kernel ---------*- C++ -*-===//
//
// Splits the operations of a block into *units*: boundaries (what the target has a library for,
// collectives, whatever is not a kernel's), each alone, and groups that become one kernel.
// Operations that only move or make data are *carried*: copied into the groups that read them,
// unless a boundary needs their value in memory.
//
// Every unit has a level, and every edge between units goes from a lower to a strictly higher
// level. Hence an operation may join the group of its operand whenever that group's level is the
// greatest among its operands', and groups of one level may merge: no cycle can arise, and one walk
// over the block is enough.
//
//   s = add x, d        new group A (level 1)
//   n = layer_norm s    joins A: rows of s
//   y = dot_general n   boundary, level 2
//   b = add y, c        new group B, level 3
//   r = add s, b        joins B; s is an operand of B, written by A
//
// A group has a domain of N elements seen as rows of `inner` elements once a reduction has joined.
// Its values are full (N elements) or one per row. A reduction's result broadcast back along the
// reduced dimensions stays in the group: that is a softmax or a normalisation.
//
// In the end groups compute again what others would keep for them, where that is cheap
// (FusionRepeats.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_FUSIONGROUPS_H
#define WEFT_COMPILER_KERNEL_FUSIONGROUPS_H

#include "compiler/Kernel/Target.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace weft {

/// On a carried operation that keeps its readers out of the kernel that makes its operand: what
/// they compute is wanted later, and kept by nobody until then.
inline constexpr llvm::StringLiteral barrierAttrName = "exec.barrier";

/// On a device's part of a value that waits behind a barrier: it is held alone, in memory of its
/// own.
inline constexpr llvm::StringLiteral heldAttrName = "exec.held";

/// A boundary (one operation) or a group of operations in block order.
struct FusionUnit {
  bool isKernel = false;
  llvm::SmallVector<mlir::Operation *, 4> ops;
  llvm::SetVector<mlir::Value> inputs;  ///< values of other units or block arguments that it reads
  llvm::SetVector<mlir::Value> outputs; ///< values that other units read
};

class FusionGroups {
public:
  /// Groups the operations of `block` for a target, in time linear in their number.
  FusionGroups(mlir::Block &block, const Target &target);

  /// Units in an order that respects their dependences and otherwise follows the block's.
  std::vector<FusionUnit> units;

  /// Whether the operation is carried into its readers rather than part of a unit.
  bool isCarried(mlir::Operation *op) const { return op && carried.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> carried;
};

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_FUSIONGROUPS_H
