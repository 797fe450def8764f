//===- FunctionGraph.h - functions and attributes as graphs -----*- C++ -*-===//
//
// The bridge between IR and the sharding algorithms: builds a ShardingGraph from a function, and
// turns #dist.sharding and dist.mesh into their plain forms and back.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_FUNCTIONGRAPH_H
#define WEFT_COMPILER_SHARDING_FUNCTIONGRAPH_H

#include "compiler/Sharding/ShardingGraph.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace weft {

/// A function's tensors and operations. Operations without a factor rule are not nodes. The node of
/// a store has what is stored and all loads of the state as operands, and no result: a state lies
/// in one way.
///
/// Of a trained parameter some loads compute (what the function returns, gradients among it, comes
/// of them), others are only updated and stored. The former are weights for whoever splits
/// operations, and are never split by the axes of the batch; storage may be.
struct FunctionGraph {
  ShardingGraph graph;
  std::vector<mlir::Value> values;           ///< by tensor
  std::vector<mlir::Operation *> operations; ///< by node
  llvm::DenseMap<mlir::Value, unsigned> tensors;
  /// The tensors that each state is loaded as, then the one that is stored, by symbol; of a trained
  /// parameter without the loads that compute.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<unsigned, 2>> states;
  /// The loads of trained parameters that compute, by symbol.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<unsigned, 2>> parameters;

  explicit FunctionGraph(mlir::func::FuncOp function);

private:
  unsigned add(mlir::Value value);
  void findComputing(mlir::Block &body);
  void addOperation(mlir::Operation &op);
  void addLoad(LoadOp load, unsigned tensor);
  void addStore(StoreOp store);

  llvm::DenseSet<mlir::Operation *> computing; ///< of which results of the function come
};

MeshShape getMeshShape(dist::MeshOp mesh);

/// The plain form of a sharding whose axes are the mesh's (verifySharding).
TensorSharding fromAttr(dist::ShardingAttr attr, const MeshShape &mesh);
dist::ShardingAttr toAttr(mlir::MLIRContext *context, const TensorSharding &sharding,
                          const MeshShape &mesh);

/// A list of axes as the operations of dist take it.
mlir::ArrayAttr toAxesAttr(mlir::MLIRContext *context, llvm::ArrayRef<AxisRef> axes,
                           const MeshShape &mesh);

/// The axes of one dimension, with their unit.
dist::DimShardingAttr toDimAttr(mlir::MLIRContext *context, const AxisList &axes,
                                const MeshShape &mesh);
AxisList fromDimAttr(dist::DimShardingAttr attr, const MeshShape &mesh);

AxisList fromAxesAttr(mlir::ArrayAttr axes, const MeshShape &mesh);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_FUNCTIONGRAPH_H
