//===- ChooseStages.h - a model is cut into stages --------------*- C++ -*-===//
//
// Where a plan asks for a number of stages (--pin stage=4): their cuts, behind blocks of the model
// (compiler/Graph/Blocks.h), so that the slowest stage takes as little as can be
// (compiler/Search/StagePartition.h); and a mesh of equal shape for each, one stage's devices after
// another's. With a cluster a block takes what the search finds for it there, else its work counts.
//
// What is left open is chosen with a cluster: the mesh, the number of microbatches and what is
// computed again by planning and simulating whole steps of the few that are ranked best
// (StageTrials.h); then the schedule, of those that suit the blocks best
// (compiler/Search/StageSchedules.h). What stages took tells where to cut them better
// (compiler/Search/CorrectTimes.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_CHOOSESTAGES_H
#define WEFT_DRIVER_CHOOSESTAGES_H

#include "compiler/Plan/plan.pb.h"
#include "driver/Outcome.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace weft {

/// In a plan's `stages`: as many as are the fastest.
inline constexpr int64_t anyStages = -1;

/// Cuts the model, which is not trained yet, into as many stages as the plan asks for: adds the
/// cuts and meshes to the plan. Nothing is done where it asks for none. Fails with Infeasible where
/// the model has too few blocks, or no mesh is to be had, with Usage where the model is in parts
/// already.
Outcome chooseStages(mlir::ModuleOp module, plan::Plan &plan);

/// The plan, complete, of a model in as many stages of the numbers that can be, empty: of all
/// powers of two, as are the fastest, whose step takes less than `limit` s. None where none was
/// found.
std::optional<plan::Plan> findStages(mlir::ModuleOp module, plan::Plan asked, double limit,
                                     llvm::ArrayRef<int64_t> numbers = {});

} // namespace weft

#endif // WEFT_DRIVER_CHOOSESTAGES_H
