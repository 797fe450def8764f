//===- PlanAnswer.h - what a plan comes to ----------------------*- C++ -*-===//
//
// All that people ask of a plan, counted in the program that it lowers to: what moves, what a step
// takes on the plan's cluster and why, what a device holds, what each axis is for, and how the
// distinct blocks of the model lie.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_PLANANSWER_H
#define WEFT_DRIVER_PLANANSWER_H

#include "compiler/Plan/plan.pb.h"
#include "driver/HeldForms.h"
#include "driver/PricedCollectives.h"
#include "driver/Waterfall.h"

namespace weft {

struct AxisAnswer {
  AxisTraffic traffic; ///< without a cluster no tier and no seconds
  std::vector<std::string> splits;
};

struct PlanAnswer {
  struct Priced {
    Simulation simulation;
    std::vector<WaterfallStep> waterfall;
  };

  runtime::InspectReport report;
  std::vector<PricedCollective> collectives; ///< without a cluster they take 0 s
  std::optional<Priced> priced;              ///< where the plan is for a cluster that is known
  std::vector<std::vector<AxisAnswer>> axes; ///< by mesh
  std::vector<BlockSplits> blocks;           ///< of all parts
};

/// Lowers and simulates a copy of a planned module, where `program` is not what that gave already,
/// and lists its blocks, where they are not there. Fails with Infeasible where it cannot be lowered
/// or the cluster is too small.
Result<PlanAnswer> answerPlan(mlir::ModuleOp module, const PlannedModule &planned,
                              const plan::Plan &plan,
                              std::optional<SimulatedProgram> program = std::nullopt,
                              std::vector<BlockSplits> blocks = {});

} // namespace weft

#endif // WEFT_DRIVER_PLANANSWER_H
