//===- LeastPlans.h - plans that hold little --------------------*- C++ -*-===//

#ifndef WEFT_DRIVER_LEASTPLANS_H
#define WEFT_DRIVER_LEASTPLANS_H

#include "driver/PlanSearch.h"

namespace weft {

/// Of the least that the search counts, what it is asked to keep to: solved again, the answer may
/// lie a little above.
inline constexpr double leastHeadroom = 1.01;

/// What is to be planned.
struct AskedModel {
  mlir::ModuleOp model;     ///< a training step, or the model itself
  mlir::ModuleOp untrained; ///< of a step what it was made of, if that was kept; else null
  llvm::ArrayRef<Candidate> least = {}; ///< what the search found to hold least, if it looked
  unsigned threads = 1;                 ///< on which plans are tried

  /// What short models are made of (StepTrials.h). Null where that is not known.
  mlir::ModuleOp getSource(const plan::Plan &plan) const {
    return plan.has_training() ? untrained : model;
  }
};

/// The plan on each mesh that may be taken.
std::vector<plan::Plan> listTrials(mlir::ModuleOp model, const plan::Plan &plan);

/// Notes in a searched plan what its program takes and allocates; an open one is completed first.
/// Whether that is known.
bool simulateWhole(mlir::ModuleOp model, Candidate &candidate);

/// A plan whose program allocates least.
struct SmallestPlan {
  Candidate candidate;
  bool isShort = false; ///< short programs told which it is: of a deep model; it may be open
};

/// Of plans that hold little, on any mesh that may be taken, the one whose program allocates least,
/// or the first one that fits. None where there is no plan.
std::optional<SmallestPlan> findSmallest(const AskedModel &asked, const plan::Plan &plan);

} // namespace weft

#endif // WEFT_DRIVER_LEASTPLANS_H
