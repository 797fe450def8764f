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
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

/// A function's tensors and operations. Operations without a factor rule are not nodes.
struct FunctionGraph {
  ShardingGraph graph;
  std::vector<mlir::Value> values;           ///< by tensor
  std::vector<mlir::Operation *> operations; ///< by node
  llvm::DenseMap<mlir::Value, unsigned> tensors;

  explicit FunctionGraph(mlir::func::FuncOp function);

private:
  unsigned add(mlir::Value value);
  void addOperation(mlir::Operation &op);
};

MeshShape getMeshShape(dist::MeshOp mesh);

/// The plain form of a sharding whose axes are the mesh's (verifySharding).
TensorSharding fromAttr(dist::ShardingAttr attr, const MeshShape &mesh);
dist::ShardingAttr toAttr(mlir::MLIRContext *context, const TensorSharding &sharding,
                          const MeshShape &mesh);

/// A list of axes as the operations of dist take it.
mlir::ArrayAttr toAxesAttr(mlir::MLIRContext *context, llvm::ArrayRef<AxisRef> axes,
                           const MeshShape &mesh);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_FUNCTIONGRAPH_H
