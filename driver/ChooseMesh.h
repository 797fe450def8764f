//===- ChooseMesh.h - a mesh for a model on a cluster -----------*- C++ -*-===//

#ifndef WEFT_DRIVER_CHOOSEMESH_H
#define WEFT_DRIVER_CHOOSEMESH_H

#include "compiler/Plan/plan.pb.h"
#include "driver/Outcome.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace weft {

/// Whether a plan names a cluster and leaves the mesh to the search.
bool needsMesh(mlir::ModuleOp module, const plan::Plan &plan);

/// The meshes over all devices of the plan's cluster whose axes are the plan's, where that leaves
/// some open (of size 0), else {data, model}, and of models with experts {data, expert, model} too;
/// `expert` also where a pin names it. The plan's own where it has all sizes. Only meshes that have
/// the axes of all pins: where there is none it fails with Infeasible, where there is no such
/// cluster with Usage.
Result<std::vector<plan::Mesh>> listMeshes(mlir::ModuleOp module, const plan::Plan &plan);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSEMESH_H
