//===- ChooseTraining.h - meshes, recomputation, microbatches ---*- C++ -*-===//

#ifndef WEFT_DRIVER_CHOOSETRAINING_H
#define WEFT_DRIVER_CHOOSETRAINING_H

#include "driver/PlanSearch.h"
#include "driver/WholeStep.h"
#include "llvm/ADT/ArrayRef.h"

namespace weft {

/// Whether a plan leaves it to the search what is computed again (AUTO), or in how many
/// microbatches (0), for a cluster whose memory may ask for it.
bool needsTrainingChoice(const plan::Plan &plan);

/// Whether the plan's cluster tells of hosts that may keep something for its devices.
bool hasHosts(const plan::Plan &plan);

/// The ways to compute again that a plan leaves open, what holds most first; else the one it names.
llvm::ArrayRef<plan::Training::Recompute> listRecomputations(const plan::Training &training);

/// A copy of the model, or the step that the plan asks for of it. Null where none can be made.
mlir::OwningOpRef<mlir::ModuleOp> makeStep(mlir::ModuleOp module, const plan::Plan &plan);

/// Completes the plan with the mesh, where it was not given, and, where these are left open, with
/// what is computed again and how many microbatches there are: of what fits the cluster's memory,
/// what takes the least time, with as few microbatches as fit at all. `module` is the model, before
/// it is trained. Where nothing obeys all pins and fits, the plan has what came nearest and no
/// splits.
/// The step that may be needed is begun.
Outcome chooseTraining(mlir::ModuleOp module, plan::Plan &plan, PlanSearch &search,
                       WholeStep &whole);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSETRAINING_H
