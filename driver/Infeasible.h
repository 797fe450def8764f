//===- Infeasible.h - why nothing fits, and what would ----------*- C++ -*-===//

#ifndef WEFT_DRIVER_INFEASIBLE_H
#define WEFT_DRIVER_INFEASIBLE_H

#include "driver/LeastPlans.h"

namespace weft {

/// Whether the program of a plan that holds little allocates no more than a device may hold. An
/// open one is completed, unless short programs say that it allocates far more.
bool fitsWhole(const AskedModel &asked, SmallestPlan &smallest);

/// The best plan of a cluster that fits, of all that one leaves open, found in so many seconds; of
/// a deep model short programs tell which, and the whole is looked at. None where none was found.
std::optional<Candidate> findFitting(const AskedModel &asked, plan::Plan plan, double seconds);

/// Says of a plan for a cluster that fits no memory, of which this is the smallest, which devices
/// that binds, what they hold by class and by owner in the plan that holds least, and what would
/// fit, found by solving again: more memory, more devices of the same kind, and, of a training
/// step, computing again in more microbatches, unless the search chose that, and the optimizer's
/// state on hosts. Says nothing where pins, and not memory, stand in the way.
void explainInfeasible(const AskedModel &asked, const plan::Plan &plan, SmallestPlan smallest,
                       bool choseTraining);

} // namespace weft

#endif // WEFT_DRIVER_INFEASIBLE_H
