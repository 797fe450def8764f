//===- Infeasible.h - why nothing fits, and what would ----------*- C++ -*-===//

#ifndef WEFT_DRIVER_INFEASIBLE_H
#define WEFT_DRIVER_INFEASIBLE_H

#include "driver/LeastPlans.h"

namespace weft {

/// Of plans that hold little, on any mesh that may be taken, one whose program allocates no more
/// than a device may hold. None where none was found.
std::optional<Candidate> findFitting(const AskedModel &asked, const plan::Plan &plan);

/// Says of a plan for a cluster that fits no memory which devices that binds, what they hold by
/// class and by owner in the plan that holds least, and what would fit, found by solving again:
/// more memory, more devices of the same kind, and, of a training step, computing again in more
/// microbatches, unless the search chose that. Says nothing where pins, and not memory, stand in
/// the way.
void explainInfeasible(const AskedModel &asked, const plan::Plan &plan, bool choseTraining);

} // namespace weft

#endif // WEFT_DRIVER_INFEASIBLE_H
