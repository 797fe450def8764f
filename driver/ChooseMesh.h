//===- ChooseMesh.h - a mesh for a model on a cluster -----------*- C++ -*-===//

#ifndef WEFT_DRIVER_CHOOSEMESH_H
#define WEFT_DRIVER_CHOOSEMESH_H

#include "compiler/Plan/ApplyPlan.h"
#include "driver/Outcome.h"
#include <vector>

namespace weft {

/// A mesh that was tried.
struct MeshTrial {
  plan::Mesh mesh;
  PlanStatus status = PlanStatus::Infeasible;
  plan::Prediction prediction;

  /// Whether it fits, takes less time, or as much and less memory.
  bool isBetterThan(const MeshTrial &other) const;
};

/// Whether a plan names a cluster and leaves the mesh to the search.
bool needsMesh(mlir::ModuleOp module, const plan::Plan &plan);

/// Searches each of the meshes on a copy of the module, and says nothing; the best of them.
MeshTrial tryMeshes(mlir::ModuleOp module, const plan::Plan &plan,
                    const std::vector<plan::Mesh> &meshes);

/// The meshes {data, model} over all devices of the plan's cluster, or the plan's own where it has
/// axes. Empty, after an error, where there is no such cluster.
std::vector<plan::Mesh> listMeshes(mlir::ModuleOp module, const plan::Plan &plan);

/// Gives the plan the mesh {data, model} over all devices of its cluster on which a step takes the
/// least time: every factorisation of their number is searched; of equals the one that holds less.
/// Fails with Infeasible, after the reason, where none obeys all pins and fits the memory.
Outcome chooseMesh(mlir::ModuleOp module, plan::Plan &plan);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSEMESH_H
