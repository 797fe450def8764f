//===- StateUpdates.h - states that are changed where they lie --*- C++ -*-===//
//
// What is stored to a state often differs little from what was loaded: a row was put into a cache,
// a statistic moved. Then the operation that makes the new value writes into the state's own
// memory, instead of a copy that is copied back at the step's end:
//
//   %0 = dist.load_shard @cache …                      the state's memory
//   %1 = weft.scatter_elements set %0, %i, %row …      writes one row of it
//   dist.store_shard @cache, %1 …                      nothing is left to do
//
// This holds where nothing reads the old value afterwards. Three kinds of operations can do it:
// updates (UpdateOpInterface: scatters), marked here; joins of parts of the state and of other
// values (JoinOpInterface: a cache that slides, a block that is replaced), marked here, which stay
// out of kernels: each part is copied to its place; and elementwise arithmetic, of which the kernel
// decides (canUpdate).
//
// A state may be changed in several places, one after the other: a buffer of all layers' keys is
// the join of what each layer's slice became, and of slices that stay. Then each part of a
// join has a place in the state, and what changes a slice of the state in that place
// writes there; so does what changes it further.
//
//   %k0 = weft.slice %0 [0, …]          a view of the state's memory
//   %1 = weft.scatter_elements %k0, …   writes into it
//   %k1 = weft.slice %0 [1, …]
//   %2 = weft.concat %1, %k1            nothing is left to do
//   dist.store_shard @cache, %2
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_STATEUPDATES_H
#define WEFT_COMPILER_KERNEL_STATEUPDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace weft {

/// On an update or a join: its result takes the memory of the state that it changes; on a slice of
/// the state: it is what is changed, and stays out of kernels. On an argument of a kernel: the
/// number of the result that takes its memory.
inline constexpr llvm::StringLiteral inPlaceAttrName = "exec.in_place";

/// The symbol that an operation loads from, or stores to; null for other operations.
mlir::StringAttr getLoadedSymbol(mlir::Operation *op);
mlir::StringAttr getStoredSymbol(mlir::Operation *op);

/// The value behind reshapes and transposes.
mlir::Value getUnviewed(mlir::Value value);
/// The symbol of the state that a value is a view of, also through slices that are changed; null
/// for other values.
mlir::StringAttr getViewedState(mlir::Value value);

/// A part of a join: where in the result it lies, and where in the state, if it is a slice
/// of that.
struct UpdatePart {
  mlir::Value value;
  int64_t start = 0;
  std::optional<int64_t> from;
};

/// The parts of a join in the order in which they may be copied into the state of this
/// symbol: those that move within it, so that none overwrites what another moves, then the others;
/// without those that stay. None where there is no such order, or no part is of the state.
std::optional<llvm::SmallVector<UpdatePart>> orderParts(mlir::Operation *join,
                                                        mlir::StringAttr state);

/// Marks the updates and joins of a block that change a state, and the slices that they change.
void markStateUpdates(mlir::Block &block);

/// The operations whose results are stored, under reshapes and transposes, and those that change
/// parts of what is (markStateUpdates), with the state's symbol.
llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Operation *>> findUpdates(mlir::Block &block);

/// Whether a kernel may write a result over an argument of the same shape: it reads each element of
/// the argument only to compute the elements of its results in the same place.
bool canUpdate(mlir::func::FuncOp kernel, unsigned argument, unsigned result);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_STATEUPDATES_H
