//===- WeightView.h - strided looks at a weight -----------------*- C++ -*-===//
//
// What a chain of transposes, reshapes and slices behind a load amounts to: element (i, j, …) of
// the view is the weight's element start + i·strides[0] + j·strides[1] + …. A block of such a view
// is one strided slice of the weight's file, so that a projection fused as (3, h, d) splits by
// heads with nothing moved:
//
//   load w: 768x2304      start 0     shape [768, 2304]     strides [2304, 1]
//   reshape 768x3x12x64   start 0     shape [768, 3, 12, 64] strides [2304, 768, 64, 1]
//   slice [:, 1]          start 768   shape [768, 1, 12, 64] strides [2304, 768, 64, 1]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_WEIGHTVIEW_H
#define WEFT_COMPILER_SHARDING_WEIGHTVIEW_H

#include "compiler/Sharding/FactorSharding.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace weft {

struct WeightView {
  mlir::FlatSymbolRefAttr weight;
  int64_t start = 0;
  llvm::SmallVector<int64_t, 4> shape, strides;

  /// The whole weight, in its own order.
  static WeightView whole(mlir::FlatSymbolRefAttr weight, llvm::ArrayRef<int64_t> shape);

  /// The view under another permutation, window or shape. A reshape is none where it would join
  /// dimensions that do not follow each other in memory.
  WeightView transposed(llvm::ArrayRef<int64_t> permutation) const;
  WeightView sliced(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> steps,
                    llvm::ArrayRef<int64_t> shape) const;
  std::optional<WeightView> reshaped(llvm::ArrayRef<int64_t> shape) const;

  /// The view behind `op`, a transpose, slice or reshape of this view; none for other operations.
  std::optional<WeightView> through(mlir::Operation *op) const;
};

/// Whether an operation is one that a view may go through.
bool isView(mlir::Operation *op);

/// How what a view makes lies where its operand does so: of a weight that holds several side by
/// side, by a slice or a reshape to (3, heads, size), each is split like the whole. None where the
/// view has no dimensions that say the same.
std::optional<TensorSharding> seeThrough(mlir::Operation *view, const FactorRule &rule,
                                         const TensorSharding &operand);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_WEIGHTVIEW_H
