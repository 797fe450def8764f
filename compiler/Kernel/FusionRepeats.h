//===- FusionRepeats.h - what kernels compute again, not read ---*- C++ -*-===//

#ifndef WEFT_COMPILER_KERNEL_FUSIONREPEATS_H
#define WEFT_COMPILER_KERNEL_FUSIONREPEATS_H

#include "compiler/Kernel/FusionGroups.h"

namespace weft {

/// Has kernels compute again what another one would keep in memory for them, where that takes few
/// operations on values that are there: on no more bytes than are saved, hence neither more to read
/// nor more to hold. A collective often parts such kernels, as where devices share the columns of a
/// softmax:
///
///   kernel A: w = cast x; m = max w         m alone is written, not w, of twice the bytes of x
///   boundary: M = all_reduce m
///   kernel B: e = exp (w - M); s = sum e    has a cast of x of its own
///
/// Units keep their numbers, `numbers` by operation; of one that is left without outputs nothing is
/// to be made. `carried`: what readers copy. `updates`: what makes states' next values.
void repeatCheap(std::vector<FusionUnit> &units, const Target &target,
                 const llvm::DenseMap<mlir::Operation *, unsigned> &numbers,
                 const llvm::DenseSet<mlir::Operation *> &carried,
                 llvm::ArrayRef<std::pair<mlir::StringAttr, mlir::Operation *>> updates);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_FUSIONREPEATS_H
