//===- Strided.h - copies between strided blocks ----------------*- C++ -*-===//

#ifndef WEFT_COMPILER_INTERPRET_STRIDED_H
#define WEFT_COMPILER_INTERPRET_STRIDED_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

/// Row-major strides of a dense tensor, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// The product of a shape.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);

/// Copies a block of `shape` elements of `width` bytes. Strides are in elements, may be 0 (source:
/// repeat) or negative; the pointers stand at the block's first element. Neighbouring dimensions
/// that lie together are walked as one.
void copyStrided(llvm::ArrayRef<int64_t> shape, int64_t width, char *to,
                 llvm::ArrayRef<int64_t> toStrides, const char *from,
                 llvm::ArrayRef<int64_t> fromStrides);

/// Calls `visit` with each position of a shape in row-major order and its row-major number.
void forEachPosition(llvm::ArrayRef<int64_t> shape,
                     llvm::function_ref<void(llvm::ArrayRef<int64_t>, int64_t)> visit);

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_STRIDED_H
