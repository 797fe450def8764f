//===- Coordinates.h - from dist's axes to exec's ---------------*- C++ -*-===//

#ifndef WEFT_COMPILER_LOWERING_COORDINATES_H
#define WEFT_COMPILER_LOWERING_COORDINATES_H

#include "compiler/Lowering/Communicate.h"
#include "dialects/Dist/IR/DistDialect.h"

namespace weft {

/// The axes as an array of exec::AxisAttr.
mlir::ArrayAttr toExecAxes(mlir::MLIRContext *context, llvm::ArrayRef<dist::AxisRefAttr> axes);

/// `step` times the coordinate along the axes (first major).
exec::AffineAttr getCoordinate(mlir::MLIRContext *context, llvm::ArrayRef<dist::AxisRefAttr> axes,
                               int64_t step);

/// The group of ranks that differ only along the axes.
RankGroup getRankGroup(dist::MeshOp mesh, mlir::ArrayAttr axes);

/// Where a rank's block of a strided view starts: Σ over dimensions of coordinate · local extent ·
/// stride. `local` is the block's shape.
exec::AffineAttr getBlockStart(mlir::MLIRContext *context, dist::ShardingAttr sharding,
                               llvm::ArrayRef<int64_t> local, llvm::ArrayRef<int64_t> strides);

/// How much of a rank's block is of the tensor, whose shape is `global`: one exec.affine a
/// dimension, which counts between 0 and the block's extent. Null where nothing is padded.
mlir::ArrayAttr getValidExtents(dist::MeshOp mesh, dist::ShardingAttr sharding,
                                llvm::ArrayRef<int64_t> global, llvm::ArrayRef<int64_t> local);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_COORDINATES_H
