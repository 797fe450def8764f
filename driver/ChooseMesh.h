//===- ChooseMesh.h - a mesh for a model on a cluster -----------*- C++ -*-===//

#ifndef WEFT_DRIVER_CHOOSEMESH_H
#define WEFT_DRIVER_CHOOSEMESH_H

#include "compiler/Plan/plan.pb.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace weft {

/// Whether a plan names a cluster and leaves the mesh to the search.
bool needsMesh(mlir::ModuleOp module, const plan::Plan &plan);

/// The meshes over all devices of the plan's cluster whose axes are the plan's, where that leaves
/// some open (of size 0), else {data, model}; or the plan's own where it has all sizes. Empty,
/// after an error, where there is no such cluster.
std::vector<plan::Mesh> listMeshes(mlir::ModuleOp module, const plan::Plan &plan);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSEMESH_H
