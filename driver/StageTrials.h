//===- StageTrials.h - what stages would take, quickly ----------*- C++ -*-===//
//
// Stages that are to be cut on equal meshes, and how they are to be trained: what is worth to be
// planned and simulated. Each stage takes about as long as its share of the whole model would on
// one of the meshes, so that one search of that (StepTrials.h) tells of all stages:
//
//   seconds(K stages, B microbatches) = seconds(whole model) / K · (B + K - 1) / B
//
// Of weights, states and sums of gradients the devices hold a K-th; of activations as much as those
// of one microbatch of the whole model: the first stage has K microbatches of its layers under way.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_STAGETRIALS_H
#define WEFT_DRIVER_STAGETRIALS_H

#include "compiler/Plan/plan.pb.h"
#include "driver/Outcome.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace weft {

/// A plan that asks for a number of stages, with all that was left open but where they are cut.
struct StagedPlan {
  plan::Plan plan;
  double seconds = 0; ///< of a step, about
};

/// Of a model, which is not trained yet, and a plan that names a cluster: all plans in so many
/// groups of devices that are found to fit, the fastest first. Where none is, the one that holds
/// least of what was tried, if there is one. Fails where listMeshes() does.
Result<std::vector<StagedPlan>> rankStages(mlir::ModuleOp module, const plan::Plan &asked,
                                           llvm::ArrayRef<int64_t> numbers);

/// As many stages as the plan's cluster has nodes, in a usual number of microbatches. None where
/// that does not fit, and where devices reach other nodes so well that stages save little of what
/// goes there.
std::optional<StagedPlan> estimateStages(mlir::ModuleOp module, const plan::Plan &asked);

} // namespace weft

#endif // WEFT_DRIVER_STAGETRIALS_H
