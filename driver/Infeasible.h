//===- Infeasible.h - why nothing fits, and what would ----------*- C++ -*-===//

#ifndef WEFT_DRIVER_INFEASIBLE_H
#define WEFT_DRIVER_INFEASIBLE_H

#include "driver/PlanSearch.h"

namespace weft {

/// Of plans that hold little, on any mesh that may be taken, one whose program allocates no more
/// than a device may hold. `model` is what is to be planned. None where none was found.
std::optional<Candidate> findFitting(mlir::ModuleOp model, const plan::Plan &plan);

/// Says of a plan for a cluster that fits no memory which devices that binds, what they hold by
/// class and by owner in the plan that holds least, and what would fit, found by solving again:
/// more devices of the same kind, more memory, and, of a training step, computing again in more
/// microbatches. `model` is what is to be planned, `untrained` that before it was made a training
/// step, or null. Says nothing where pins, and not memory, stand in the way.
void explainInfeasible(mlir::ModuleOp model, mlir::ModuleOp untrained, const plan::Plan &plan);

} // namespace weft

#endif // WEFT_DRIVER_INFEASIBLE_H
