//===- ViewMap.h - which dimensions a view keeps ----------------*- C++ -*-===//
//
// How the dimensions of a reshape's or transpose's operand and result correspond: minimal groups of
// dimensions of equal product, a transpose's all of one dimension each. The reshape 4x32x64 ->
// 128x64 has the groups ([0, 1], [0]) and
// ([2], [1]). A reshape's unit dimensions belong to no group.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_VIEWMAP_H
#define WEFT_PASSES_IMPORT_VIEWMAP_H

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace weft {

using Dims = llvm::SmallVector<int64_t, 4>;

class ViewMap {
public:
  struct Group {
    Dims from, to;
  };

  /// The map of a weft.reshape or weft.transpose; none for other operations and for tensors without
  /// elements.
  static std::optional<ViewMap> of(mlir::Operation *view);
  /// The map of a tensor onto itself.
  static ViewMap identity(mlir::Value value);

  llvm::ArrayRef<int64_t> fromShape() const { return from; }
  llvm::ArrayRef<int64_t> toShape() const { return to; }
  llvm::ArrayRef<Group> groups() const { return all; }
  const Group *groupOf(int64_t toDim) const;

  /// The operand's dimensions, major first, that make up a result dimension by themselves: none
  /// where it shares its group with others, empty for a unit dimension of a reshape.
  std::optional<Dims> sourcesOf(int64_t toDim) const;
  /// The one operand dimension that is this result dimension.
  std::optional<int64_t> sourceOf(int64_t toDim) const;

private:
  Dims from, to;
  llvm::SmallVector<Group> all;
};

/// How many dimensions are not of size 1.
int64_t countOthersThanOne(llvm::ArrayRef<int64_t> shape);

/// The view that ends in `value` and may be sunk: a transpose, or a reshape that splits no
/// dimension, of a value that is not a weight (views of weights are free and stay).
mlir::Operation *sinkableView(mlir::Value value);

/// A splat of another shape.
mlir::Value resizeSplat(mlir::OpBuilder &builder, ConstantOp splat, mlir::RankedTensorType type);

/// Builds the view `like` on another operand.
mlir::Value repeatView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *like,
                       mlir::Value operand, mlir::Type type);

/// Whether `operand` is the image under `view` of a value at hand: see `undoView`.
bool canUndoView(mlir::Operation *view, mlir::Value operand);

/// A value of the shape of the view's operand whose image is `operand`: what the same view was
/// taken of, a splat, a weight viewed the other way, or a broadcast along groups of dimensions that
/// the view keeps together.
mlir::Value undoView(mlir::OpBuilder &builder, mlir::Operation *view, mlir::Value operand);

} // namespace weft

#endif // WEFT_PASSES_IMPORT_VIEWMAP_H
