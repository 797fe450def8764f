//===- Planning.h - from a model to a planned module ------------*- C++ -*-===//
//
// A plan is read, or made from a mesh and pins; the module obeys it and nothing else:
//
//   1. preparePlan(context, options, load)   reads the plan file, or starts one from mesh and pins
//   2. loadModel(context, path, load)        with the dimensions that the plan binds
//   3. trainModule(module, plan.training())  where the plan has a training (Training.h)
//   4. planModule(module, plan)              chooses what is open; every value has its sharding
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_PLANNING_H
#define WEFT_DRIVER_PLANNING_H

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/plan.pb.h"
#include "compiler/Sharding/PlannedModule.h"
#include "driver/FitPlan.h"
#include "driver/LoadModel.h"
#include "driver/Training.h"
#include "driver/WholeStep.h"

namespace weft {

/// How a model is to be split, as on the command line.
struct PlanOptions {
  std::string plan; ///< a plan file (-: the standard input); excludes the others
  std::string mesh; ///< NAME=SIZE,…; of several parts one or each, by ';'; empty: one device a part
  std::string cluster; ///< searches for the split that takes the least time there; empty: by bytes
  int64_t memory = 0;  ///< B that a device may hold; 0: what the cluster says
  std::vector<std::string> cuts;  ///< values behind which a part of the model ends
  std::vector<std::string> shard; ///< VALUE=[{AXES},…] each
  std::vector<std::string> pins;  ///< NAME=VALUE,… each: degrees and choices (PinOptions.h)
  TrainingOptions training;
};

/// Reads the plan file, or starts a plan with the mesh and the user's pins. Dimensions that the
/// plan binds are noted in `load`. Fails with BadInput for what a file says, with Usage for what
/// the other options do.
Result<plan::Plan> preparePlan(mlir::MLIRContext &context, const PlanOptions &options,
                               ModelOptions &load);

/// How a command ends whose plan could not be applied.
ErrorKind toError(PlanStatus status, bool fromFile);

/// Whether a plan was read from a file, and is obeyed, rather than started from options.
bool isFromFile(const plan::Plan &plan);

/// Makes a training step of a model whose plan says so, of the model's own loss where the plan
/// names none. The mesh and the options of training that a plan that was started from options
/// leaves to the search are decided in it. A step that is only tried may be a copy of one that was
/// begun.
Outcome trainPlanned(mlir::ModuleOp module, plan::Plan &plan, PlanSearch *search = nullptr,
                     WholeStep *begun = nullptr);

/// Completes a plan that was started from options with what is written in the model and what
/// the search chooses, notes the model in it, applies it, propagates, and, where it is for a
/// cluster, simulates it. A plan read from a file must be of this model, shardings written in it
/// included, and is only applied. Fails with BadInput or Usage where the plan does not fit the
/// model, with Infeasible where it cannot be, or no program fits the devices' memory. `search` may
/// have tried plans before. Where the program is the caller's answer, what lowering it has to say
/// is told.
Result<PricedModule> planModule(mlir::ModuleOp module, plan::Plan &plan,
                                PlanSearch *search = nullptr, bool isAnswer = false);

/// A plan, and its model with the plan applied.
struct PlannedModel {
  plan::Plan plan;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  PlannedModule planned; ///< of `module`
  std::string path;      ///< of the model
  ModelOptions load;     ///< as it was loaded
};

/// Reads a plan and its model (at `model`, else where the plan says), and applies the one to the
/// other. Where the plan was priced, it is priced again: warns where its program takes another time
/// now, or allocates more than may be held, fails with Infeasible where the cluster has no place
/// for it any more.
Result<PlannedModel> readPlanned(mlir::MLIRContext &context, const std::string &planPath,
                                 const std::string &model, ModelOptions load = {});

/// The model of a plan, or its training step, to which no plan is applied.
Result<mlir::OwningOpRef<mlir::ModuleOp>> loadOpen(mlir::MLIRContext &context, PlannedModel &model);

/// Notes where the model lies, relative to the plan at `planPath`, which is no link, and absolute,
/// and how its dimensions were bound.
void noteModel(plan::Plan &plan, const std::string &modelPath, const std::string &planPath,
               const ModelOptions &load);

/// The model's path as noted in the plan at `planPath`: relative to where that leads, else
/// absolute; "" if neither exists.
std::string findModel(const plan::Plan &plan, const std::string &planPath);

} // namespace weft

#endif // WEFT_DRIVER_PLANNING_H
