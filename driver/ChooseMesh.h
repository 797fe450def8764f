//===- ChooseMesh.h - a mesh for a model on a cluster -----------*- C++ -*-===//

#ifndef WEFT_DRIVER_CHOOSEMESH_H
#define WEFT_DRIVER_CHOOSEMESH_H

#include "compiler/Plan/ApplyPlan.h"
#include "driver/Outcome.h"

namespace weft {

/// Whether a plan names a cluster and leaves the mesh to the search.
bool needsMesh(mlir::ModuleOp module, const plan::Plan &plan);

/// Gives the plan the mesh {data, model} over all devices of its cluster on which a step takes the
/// least time: every factorisation of their number is searched; of equals the one that holds less.
/// Fails with Infeasible, after the reason, where none obeys all pins and fits the memory.
Outcome chooseMesh(mlir::ModuleOp module, plan::Plan &plan);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSEMESH_H
