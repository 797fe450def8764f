//===- Indexing.h - which elements of a dimension are meant -----*- C++ -*-===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_INDEXING_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_INDEXING_H

#include "frontends/torch_export/Node.h"

namespace weft::frontend::aten {

/// The elements `start`, `start + stride`, … of one dimension, `count` of them.
struct SliceRange {
  int64_t dim, start, count, stride;
  mlir::Value computedStart = {}; ///< takes the place of `start` where only running tells; stride 1
};

/// Of `dim`, `start`, `end` and `step`, clamped to the dimension as Python does.
SliceRange readSlice(Node &node, mlir::Value x);
/// Of `dim` and `index`.
SliceRange readSelect(Node &node, mlir::Value x);
/// Of `dim`, `start` and `length`.
SliceRange readNarrow(Node &node, mlir::Value x);
/// The elements themselves.
mlir::Value takeSlice(Emitter &emit, mlir::Value x, const SliceRange &range);
/// The positions along its dimension of a range whose start is computed.
mlir::Value positionsIn(Emitter &emit, const SliceRange &range);
/// The tensor with these elements replaced by those of `part`, which has their shape.
mlir::Value replaceSlice(Emitter &emit, mlir::Value x, mlir::Value part, const SliceRange &range);

/// x[:, i, :, j]: dimensions with an index tensor, and these tensors.
struct Indices {
  Shape dims;
  llvm::SmallVector<mlir::Value> tensors;
  bool adjacent() const { return dims.back() - dims.front() + 1 == int64_t(dims.size()); }
};

/// The argument `indices`. Bools must be constants: they become the positions of those true.
Indices readIndices(Node &node, mlir::Value x);
/// The indices spread to their joined shape, as tuples along a new last dimension.
mlir::Value tuplesOf(Emitter &emit, const Indices &indices, llvm::ArrayRef<int64_t> shape);
/// Indices where torch refuses negative ones: of an unsigned type, in which none counts from the
/// end, or known not to be negative.
mlir::Value countedFromStart(Emitter &emit, mlir::Value indices);
/// Where a mask is true: one vector of positions for each of its dimensions.
llvm::SmallVector<mlir::Value> positionsOf(Node &node, mlir::Value mask);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_INDEXING_H
