//===- ChooseMesh.h - a mesh for a model on a cluster -----------*- C++ -*-===//

#ifndef WEFT_DRIVER_CHOOSEMESH_H
#define WEFT_DRIVER_CHOOSEMESH_H

#include "driver/PlanSearch.h"

namespace weft {

/// Whether a plan names a cluster and leaves the mesh to the search.
bool needsMesh(mlir::ModuleOp module, const plan::Plan &plan);

/// The meshes {data, model} over all devices of the plan's cluster, or the plan's own where it has
/// axes. Empty, after an error, where there is no such cluster.
std::vector<plan::Mesh> listMeshes(mlir::ModuleOp module, const plan::Plan &plan);

/// Completes the plan on the mesh {data, model} over all devices of its cluster on which a step
/// takes the least time: every factorisation of their number is searched. Where none obeys all pins
/// and fits the memory, the plan has the mesh that came nearest and nothing else.
Outcome chooseMesh(mlir::ModuleOp module, plan::Plan &plan, PlanSearch &search);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSEMESH_H
