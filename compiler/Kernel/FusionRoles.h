//===- FusionRoles.h - what each operation is to fusion ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_FUSIONROLES_H
#define WEFT_COMPILER_KERNEL_FUSIONROLES_H

#include "compiler/Kernel/Target.h"
#include "mlir/IR/Operation.h"

namespace weft {

enum class FusionRole {
  Boundary, ///< never in a kernel: what the target has a library for, and what is not computation
  Carried,  ///< moves or makes data: copied into its readers while that is cheap
  Member,   ///< computed by exactly one kernel
};
FusionRole getFusionRole(mlir::Operation *op, const Target &target);

/// What a member asks of the group that it joins.
enum class MemberKind {
  Pointwise,    ///< one result element from one of each operand
  RowReduce,    ///< reduces the last dimensions
  RowNormalise, ///< reads a whole row and writes a whole row
  ColumnReduce, ///< reduces other dimensions
  Indexing,     ///< reads its operands at other indices
  Alone,        ///< a loop of its own: scans, scatters, sorts, products
};
MemberKind getMemberKind(mlir::Operation *op);

/// What a carried operation does to the rows of its operand.
enum class RowMotion {
  Keeps,   ///< element by element, in linear order
  Expands, ///< repeats each element along new last dimensions
  Moves,
};
RowMotion getRowMotion(mlir::Operation *op);

/// Carried operations that read one operand at other indices: broadcast, reshape, reverse, slice,
/// transpose.
bool isMovement(mlir::Operation *op);

/// Whether the operands of a boundary may be strided views.
bool readsViews(mlir::Operation *op);

/// Elements that a reduction or normalisation joins for each row; 0 for other operations.
int64_t getInnerSize(mlir::Operation *op);

/// Rough cost of one result element, in additions.
int64_t getElementCost(mlir::Operation *op);

/// A chain of carried operations longer than this is computed once instead.
inline constexpr int64_t maxCarriedCost = 24;

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_FUSIONROLES_H
