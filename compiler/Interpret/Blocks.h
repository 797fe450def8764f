//===- Blocks.h - cutting and joining tensors -------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_INTERPRET_BLOCKS_H
#define WEFT_COMPILER_INTERPRET_BLOCKS_H

#include "compiler/Interpret/Tensor.h"

namespace weft {

/// A dense tensor of `type` read from a strided look at `input`: its first element is the input's
/// element `start`, strides are in elements and may be 0 or negative. Of a splat: a splat.
Tensor stridedView(mlir::RankedTensorType type, const Tensor &input, int64_t start,
                   llvm::ArrayRef<int64_t> strides);

/// The contiguous block of `shape` at `starts`.
Tensor blockAt(const Tensor &input, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> shape);

/// Writes a block into a dense tensor at `starts`.
void placeBlock(Tensor &into, const Tensor &block, llvm::ArrayRef<int64_t> starts);

/// Joins tensors along one dimension. Splats of one value give a splat.
Tensor joinAlong(mlir::RankedTensorType type, llvm::ArrayRef<Tensor> parts, int64_t dim);

/// The dimensions in another order: dimension i is the input's `permutation[i]`.
Tensor transposed(const Tensor &input, llvm::ArrayRef<int64_t> permutation);

/// Whether all are splats of the same bytes.
bool areSameSplats(llvm::ArrayRef<Tensor> tensors);

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_BLOCKS_H
