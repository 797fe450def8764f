//===- Sharding.h - what a sharding means on a mesh -------------*- C++ -*-===//
//
// Helpers over #dist.sharding, dist.mesh and their verification. Extents count elements,
// coordinates and devices from 0.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_DIST_IR_SHARDING_H
#define WEFT_DIALECTS_DIST_IR_SHARDING_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Extent.h"
#include <optional>

namespace weft::dist {

/// On an operation: how it is split, a dictionary from its factors' names to axes
/// (compiler/Sharding/OperationSplit.h).
inline constexpr llvm::StringLiteral kSplitAttr = "dist.split";

/// The mesh of that name in the module of `op`; null where there is none. Meshes stand first in a
/// module, which keeps the look-up short.
MeshOp lookupMesh(mlir::Operation *op, mlir::FlatSymbolRefAttr name);

/// Whether two references share devices' coordinates: the same axis, and neither is wholly minor to
/// the other.
bool overlaps(AxisRefAttr a, AxisRefAttr b);

/// The elements of an axes attribute.
llvm::SmallVector<AxisRefAttr> getAxisRefs(mlir::ArrayAttr axes);

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Checks that `axes` are distinct axes (or sub-axes that nest) of the mesh.
mlir::LogicalResult verifyAxes(EmitError emitError, MeshOp mesh, llvm::ArrayRef<AxisRefAttr> axes);

/// Checks constraints C1 … C3 of #dist.sharding for a value of that (global) type.
mlir::LogicalResult verifySharding(EmitError emitError, MeshOp mesh, ShardingAttr sharding,
                                   mlir::Type type);

/// The type of one device's block of a value of type `global`. The sharding must fit
/// (verifySharding).
mlir::RankedTensorType getLocalType(MeshOp mesh, ShardingAttr sharding,
                                    mlir::RankedTensorType global);

/// The sharding of a value as annotated: `dist.sharding` or the entry of `dist.shardings` on its
/// operation, or the attribute of the function's argument; null where it has none.
ShardingAttr getSharding(mlir::Value value);

/// Annotates a value with its sharding (see getSharding).
void setSharding(mlir::Value value, ShardingAttr sharding);

/// How a weight is stored on each mesh that something is said of.
llvm::SmallVector<ShardingAttr> getStorageShardings(WeightOp weight);
/// How a weight is stored on the mesh of that name; null where nothing is said of it.
ShardingAttr getStorageSharding(WeightOp weight, llvm::StringRef mesh);
/// Whether that was decided.
bool isStoragePinned(WeightOp weight, llvm::StringRef mesh);
/// Says how a weight is stored on the sharding's mesh, beside what is said of other meshes.
void setStorageSharding(WeightOp weight, ShardingAttr sharding, bool pinned);

} // namespace weft::dist

#endif // WEFT_DIALECTS_DIST_IR_SHARDING_H
