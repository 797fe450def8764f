#include "driver/Planning.h"

#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"
#include "driver/ChooseMesh.h"
#include "driver/ChooseTraining.h"
#include "passes/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Before the model
//===----------------------------------------------------------------------===//

static Result<plan::Plan> addTraining(mlir::MLIRContext &context, plan::Plan plan,
                                      const TrainingOptions &options) {
  if (options.optimizer.empty())
    return plan;
  Result<plan::Training> training = readTrainingOptions(context, options);
  if (training.failed())
    return training.getOutcome();
  *plan.mutable_training() = std::move(*training);
  return plan;
}

Result<plan::Plan> weft::preparePlan(mlir::MLIRContext &context, const PlanOptions &options,
                                     ModelOptions &load) {
  bool isFile = !options.plan.empty();
  std::string problem;
  std::optional<plan::Plan> plan =
      isFile ? readPlan(options.plan, problem)
             : startPlan(options.mesh, options.cuts, options.shard, problem);
  if (!plan)
    return fail(context, isFile ? ErrorKind::BadInput : ErrorKind::Usage, problem);
  if (!isFile) {
    plan->set_cluster(options.cluster);
    plan->set_memory_limit(options.memory);
    return addTraining(context, std::move(*plan), options.training);
  }
  if (!plan->has_model() || plan->model().fingerprint().empty())
    return fail(context, ErrorKind::BadInput,
                "plan " + options.plan + ": expected the model's fingerprint");
  for (const plan::DimBinding &dim : plan->model().dims())
    load.planDims.push_back({dim.name(), dim.size()});
  load.planDtype = plan->model().dtype();
  load.planCarry.assign(plan->model().carry().begin(), plan->model().carry().end());
  return std::move(*plan);
}

//===----------------------------------------------------------------------===//
// With the model
//===----------------------------------------------------------------------===//

ErrorKind weft::toError(PlanStatus status, bool fromFile) {
  switch (status) {
  case PlanStatus::Applied: // what failed was not about the plan
  case PlanStatus::BadModel:
    return ErrorKind::BadInput;
  case PlanStatus::BadRequest:
    return ErrorKind::Usage;
  case PlanStatus::UnknownName:
    return fromFile ? ErrorKind::BadInput : ErrorKind::Usage;
  case PlanStatus::Infeasible:
    return ErrorKind::Infeasible;
  }
  return ErrorKind::Infeasible;
}

bool weft::isFromFile(const plan::Plan &plan) {
  return plan.has_model() && !plan.model().fingerprint().empty();
}

Outcome weft::trainPlanned(mlir::ModuleOp module, plan::Plan &plan) {
  if (!plan.has_training())
    return Outcome::success();
  bool fromFile = isFromFile(plan);
  if (Outcome complete = completeLoss(module, *plan.mutable_training(), fromFile);
      complete.failed())
    return complete;
  if (!fromFile && needsTrainingChoice(plan))
    if (Outcome chosen = chooseTraining(module, plan); chosen.failed())
      return chosen;
  return trainModule(module, plan.training(), fromFile);
}

Result<PlannedModule> weft::planModule(mlir::ModuleOp module, plan::Plan &plan) {
  mlir::MLIRContext &context = *module.getContext();
  std::string print = fingerprintOf(module);
  bool fromFile = isFromFile(plan);
  if (fromFile && plan.model().fingerprint() != print)
    return fail(context, ErrorKind::BadInput,
                "the plan is of another model, or of other sizes: expected fingerprint " +
                    plan.model().fingerprint() + ", got: " + print);
  plan.mutable_model()->set_fingerprint(print);
  if (needsMesh(module, plan))
    if (Outcome chosen = chooseMesh(module, plan); chosen.failed())
      return chosen;
  auto state = std::make_shared<PlanState>();
  state->plan = std::move(plan);
  state->isWhole = fromFile;
  mlir::PassManager passes(&context);
  buildPlanPipeline(passes, state);
  bool succeeded = mlir::succeeded(passes.run(module));
  plan = std::move(state->plan);
  if (!succeeded)
    return toError(state->status, fromFile);
  return std::move(*state->planned);
}

//===----------------------------------------------------------------------===//
// Where the model lies
//===----------------------------------------------------------------------===//

void weft::noteModel(plan::Plan &plan, const std::string &modelPath, const std::string &planPath,
                     const ModelOptions &load) {
  std::string folder = fs::path(planPath).parent_path().string();
  std::error_code error;
  plan.mutable_model()->set_path(relativeTo(modelPath, folder.empty() ? "." : folder));
  plan.mutable_model()->set_absolute_path(
      fs::absolute(modelPath, error).lexically_normal().string());
  if (!load.carry.empty())
    plan.mutable_model()->clear_carry();
  for (const std::string &pair : load.carry)
    plan.mutable_model()->add_carry(pair);
  if (!load.dtype.empty())
    plan.mutable_model()->set_dtype(load.dtype);
  if (!load.dims.empty())
    plan.mutable_model()->clear_dims();
  for (const std::string &text : load.dims) {
    auto [name, size] = llvm::StringRef(text).rsplit('=');
    plan::DimBinding *dim = plan.mutable_model()->add_dims();
    dim->set_name(name.str());
    dim->set_size(std::stoll(size.str()));
  }
}

std::string weft::findModel(const plan::Plan &plan, const std::string &planPath) {
  std::error_code error;
  fs::path relative = fs::weakly_canonical(planPath, error).parent_path() / plan.model().path();
  if (!plan.model().path().empty() && fs::exists(relative, error))
    return relative.string();
  return fs::exists(plan.model().absolute_path(), error) ? plan.model().absolute_path() : "";
}

Result<PlannedModel> weft::readPlanned(mlir::MLIRContext &context, const std::string &planPath,
                                       const std::string &model, ModelOptions load) {
  Result<plan::Plan> plan = preparePlan(context, {planPath, "", "", 0, {}, {}, {}}, load);
  if (plan.failed())
    return plan.getOutcome();
  std::string path = model.empty() ? findModel(*plan, planPath) : model;
  if (path.empty())
    return fail(context, ErrorKind::BadInput,
                "the plan's model '" + plan->model().path() +
                    "' is not there; name it with --model");
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = loadModel(context, path, load);
  if (module.failed())
    return module.getOutcome();
  if (Outcome trained = trainPlanned(**module, *plan); trained.failed())
    return trained;
  Result<PlannedModule> planned = planModule(**module, *plan);
  if (planned.failed())
    return planned.getOutcome();
  return PlannedModel{std::move(*plan), std::move(*module), std::move(*planned)};
}
