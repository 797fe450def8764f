//===- DistDialect.h - the dist dialect -------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_DIST_IR_DISTDIALECT_H
#define WEFT_DIALECTS_DIST_IR_DISTDIALECT_H

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weft::dist {
/// Names of the dialect's discardable attributes.
inline constexpr llvm::StringLiteral kShardingAttr =
    "dist.sharding"; ///< one result, an argument, a weight
inline constexpr llvm::StringLiteral kShardingsAttr =
    "dist.shardings"; ///< an array, one entry a result; of a weight on several meshes one a mesh
inline constexpr llvm::StringLiteral kPinnedAttr =
    "dist.pinned"; ///< the sharding is a decision, not what followed from one
/// On a function that propagation went through: shardings in it that are not pinned followed.
inline constexpr llvm::StringLiteral kPropagatedAttr = "dist.propagated";
/// On a function that is a part of a model: the name of the mesh that it runs on.
inline constexpr llvm::StringLiteral kMeshAttr = "dist.mesh";
/// On an argument that another mesh sends, beside its sharding: the sharding in which it arrives.
inline constexpr llvm::StringLiteral kArrivalAttr = "dist.arrival";
/// On arguments and results of a partitioned function: the type of the global tensor.
inline constexpr llvm::StringLiteral kGlobalTypeAttr = "weft.global_type";
/// On a function that goes through its batch in N microbatches: N. Its arguments and results that
/// have the other attribute are of one of them, whose rows divide the dimension that it names.
inline constexpr llvm::StringLiteral kMicrobatchesAttr = "weft.microbatches";
inline constexpr llvm::StringLiteral kMicrobatchDimAttr = "weft.microbatch_dim";
/// On a module: the cluster that it is planned for (NAME:N, or a description's path), by whose
/// rates instructions are ordered.
inline constexpr llvm::StringLiteral kClusterAttr = "weft.cluster";
} // namespace weft::dist

#include "dialects/Dist/IR/DistDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/IR/DistAttrs.h.inc"

namespace weft::dist {
/// The assembly of lists of axes: `["data", "model":(1)2]`.
mlir::ParseResult parseAxes(mlir::OpAsmParser &parser, mlir::ArrayAttr &axes);
void printAxes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr axes);
} // namespace weft::dist

#define GET_OP_CLASSES
#include "dialects/Dist/IR/DistOps.h.inc"

#endif // WEFT_DIALECTS_DIST_IR_DISTDIALECT_H
