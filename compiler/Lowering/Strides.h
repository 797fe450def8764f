//===- Strides.h - arithmetic of strided blocks -----------------*- C++ -*-===//
//
// A strided block is a list of extents and a list of strides (elements), outermost first; an extent
// of 1 has any stride, a stride of 0 repeats. More of this kind: compiler/Kernel/StridedView.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_STRIDES_H
#define WEFT_COMPILER_LOWERING_STRIDES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace weft {

using Extents = llvm::SmallVector<int64_t, 6>;

/// Whether both lists address the same elements (strides of extents of 1 do not matter).
bool sameStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> a,
                 llvm::ArrayRef<int64_t> b);

/// Whether the elements fill one gapless range without repeats, in any order of dimensions.
bool isDense(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// Elements from the first to the last that is addressed, both included; 0 for an empty block.
int64_t footprint(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// Elements that are stored: like the product of extents, repeats counted once.
int64_t storedElements(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// One dimension of several operands at once: its extent, and its stride in each operand.
struct LoopDim {
  int64_t extent = 1;
  llvm::SmallVector<int64_t, 3> strides;
};

/// Drops dimensions of extent 1, and joins neighbours that every operand walks as one. Dimensions
/// are reordered by descending stride in operand `key`, then in the others; so they must be free to
/// be reordered together, as loops are.
llvm::SmallVector<LoopDim> mergeLoops(llvm::ArrayRef<LoopDim> dims, unsigned key);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_STRIDES_H
