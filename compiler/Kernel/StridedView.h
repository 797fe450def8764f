//===- StridedView.h - which values are strided views -----------*- C++ -*-===//
//
// A chain of transposes, reshapes and slices over a buffer is a strided view if each dimension of
// its result steps through the buffer by a constant. [2, 8, 12·64] → reshape [2, 8, 12, 64] →
// transpose [2, 12, 8, 64] has strides [6144, 64, 768, 1]; flattening that to [2, 12·8, 64] is no
// view.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_STRIDEDVIEW_H
#define WEFT_COMPILER_KERNEL_STRIDEDVIEW_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace weft {

/// Elements to step in the buffer for one step along each dimension.
using Strides = llvm::SmallVector<int64_t, 6>;

/// Strides of a contiguous row-major tensor.
Strides getRowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Whether a tensor of these strides is contiguous in row-major order (strides of unit dimensions
/// do not matter).
bool isRowMajor(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// The strides of the view reshaped from `from` to `to` (equal element counts), if that is a view.
std::optional<Strides> reshapeStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> strides,
                                      llvm::ArrayRef<int64_t> to);

/// The strides with which `value` steps through the buffer at the root of its chain of views
/// (weft.transpose, reshape, slice; dist.slice), if it is a view. Buffers are row-major unless
/// their operation carries `exec.strides`.
std::optional<Strides> getViewStrides(mlir::Value value);

/// Attribute that names strides, in elements: of a function's argument or result, and of an
/// operation's first result.
inline constexpr llvm::StringLiteral stridesAttrName = "exec.strides";

/// The strides in which an operation is to write one of its results; null: row-major.
mlir::DenseI64ArrayAttr getResultStrides(mlir::OpResult result);
void setResultStrides(mlir::OpResult result, llvm::ArrayRef<int64_t> strides);

/// On a load of a matrix [rows, columns…] that never changes and that products alone read, as right
/// factor: the extent of the second dimension in each of the panels, one behind the other, that it
/// is stored in.
inline constexpr llvm::StringLiteral panelsAttrName = "exec.panels";

/// On such a load: that the matrix is stored by columns, each of them contiguous.
inline constexpr llvm::StringLiteral byColumnsAttrName = "exec.by_columns";

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_STRIDEDVIEW_H
