//===- Planning.h - from a model to a planned module ------------*- C++ -*-===//
//
// What `plan`, `compile` and `explain` share. A plan is read, or made from a mesh and pins; the
// module obeys it and nothing else. Each step returns an exit code, 0 to go on:
//
//   1. preparePlan(options, load, plan)    reads the plan file, or starts one from --mesh, --shard
//   2. loadModel(context, path, load, …)   with the dimensions that the plan binds
//   3. planModule(module, plan)            chooses what is open; every value has its sharding
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PLANNING_H
#define WEFT_TOOLS_WEFT_PLANNING_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Sharding/PlannedModule.h"
#include "tools/weft/LoadModel.h"

namespace weft::tool {

struct PlanOptions {
  std::string plan;               ///< a plan file; excludes the others
  std::string mesh;               ///< NAME=SIZE,…; empty: one device
  std::vector<std::string> shard; ///< VALUE=[{AXES},…] each
};
/// Adds --mesh and --shard, and --plan for commands that obey one.
void addPlanOptions(CLI::App &command, PlanOptions &options, bool withPlan);

/// Reads the plan file, or starts a plan with the mesh and the user's pins. Dimensions that the
/// plan binds are noted in `load`. Returns the exit code, having said what is wrong.
int preparePlan(const PlanOptions &options, ModelOptions &load, plan::Plan &plan);

/// Completes a plan that was made from the command line with what is written in the model and what
/// the search chooses, notes the model in it, applies it, and propagates. A plan read from a file
/// must be of this model, shardings written in it included, and is only applied.
/// Returns the exit code.
int planModule(mlir::ModuleOp module, plan::Plan &plan);

/// The same, and what became of it: for `explain`.
int planModule(mlir::ModuleOp module, plan::Plan &plan, std::optional<PlannedModule> &planned);

/// Reads a plan and its model (at `model`, else where the plan says), and applies the one to the
/// other. Returns the exit code, having said what is wrong.
int readPlanned(mlir::MLIRContext &context, const std::string &planPath, const std::string &model,
                ModelOptions load, plan::Plan &plan, mlir::OwningOpRef<mlir::ModuleOp> &module,
                std::optional<PlannedModule> &planned);

/// Notes where the model lies, relative to the plan at `planPath`, which is no link, and absolute,
/// and how its dimensions were bound.
void noteModel(plan::Plan &plan, const std::string &modelPath, const std::string &planPath,
               const ModelOptions &load);

/// The model's path as noted in the plan at `planPath`: relative to where that leads, else
/// absolute; "" if neither exists.
std::string findModel(const plan::Plan &plan, const std::string &planPath);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PLANNING_H
