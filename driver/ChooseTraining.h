//===- ChooseTraining.h - recomputation and microbatches --------*- C++ -*-===//

#ifndef WEFT_DRIVER_CHOOSETRAINING_H
#define WEFT_DRIVER_CHOOSETRAINING_H

#include "driver/PlanSearch.h"

namespace weft {

/// Whether a plan leaves it to the search what is computed again (`--recompute auto`), for a
/// cluster whose memory may ask for it.
bool needsTrainingChoice(const plan::Plan &plan);

/// Completes the plan with what is computed again, where it was not said how many microbatches
/// there are, and the mesh, where it was not given: of what fits the cluster's memory, what takes
/// the least time, with as few microbatches as fit at all. `module` is the model that is to be
/// trained.
Outcome chooseTraining(mlir::ModuleOp module, plan::Plan &plan, PlanSearch &search);

} // namespace weft

#endif // WEFT_DRIVER_CHOOSETRAINING_H
