//===- FusionOrder.h - in which order units are computed --------*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_FUSIONORDER_H
#define WEFT_COMPILER_KERNEL_FUSIONORDER_H

#include "compiler/Kernel/FusionGroups.h"

namespace weft {

/// Orders the units of a block: each behind those that it reads, what changes a state, or is
/// gathered to be its next value, behind what reads its old value but as early as that and what it
/// is made of allow, and otherwise as the block does. `numbers` has the unit of each operation,
/// `updates` the operations that make states' next values (findUpdates).
std::vector<FusionUnit>
orderUnits(mlir::Block &block, std::vector<FusionUnit> units,
           const llvm::DenseMap<mlir::Operation *, unsigned> &numbers,
           llvm::ArrayRef<std::pair<mlir::StringAttr, mlir::Operation *>> updates);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_FUSIONORDER_H
