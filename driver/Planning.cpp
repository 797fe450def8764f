#include "driver/Planning.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"
#include "compiler/Plan/WrittenDecisions.h"
#include "compiler/Search/ChooseDecisions.h"
#include "compiler/Search/GreedyChoice.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Planning/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Before the model
//===----------------------------------------------------------------------===//

/// Starts a plan from a mesh and pins. Origins other than the user's are filled in later.
static Result<plan::Plan> startPlan(mlir::MLIRContext &context, const PlanOptions &options) {
  std::string problem;
  plan::Plan plan;
  plan.set_version(planVersion);
  plan::Mesh *mesh = plan.add_meshes();
  mesh->set_name("mesh"); // of one device, where none is given
  if (!options.mesh.empty()) {
    std::optional<plan::Mesh> parsed = parseMesh(options.mesh, problem);
    if (!parsed)
      return fail(context, ErrorKind::Usage, "--mesh: " + problem);
    *mesh = *parsed;
  }
  for (const std::string &text : options.shard) {
    std::optional<plan::Decision> pin = parsePin(text, problem);
    if (!pin)
      return fail(context, ErrorKind::Usage, "--shard: " + problem);
    *plan.add_decisions() = *pin;
  }
  if (options.mesh.empty()) // the model may bring one
    return plan;
  problem = validatePlan(plan);
  if (!problem.empty())
    return fail(context, ErrorKind::Usage, "--shard: " + problem);
  return plan;
}

Result<plan::Plan> weft::preparePlan(mlir::MLIRContext &context, const PlanOptions &options,
                                     ModelOptions &load) {
  if (options.plan.empty())
    return startPlan(context, options);
  std::string problem;
  std::optional<plan::Plan> plan = readPlan(options.plan, problem);
  if (!plan)
    return fail(context, ErrorKind::BadInput, problem);
  if (!plan->has_model() || plan->model().fingerprint().empty())
    return fail(context, ErrorKind::BadInput,
                "plan " + options.plan + ": expected the model's fingerprint");
  for (const plan::DimBinding &dim : plan->model().dims())
    load.planDims.push_back({dim.name(), dim.size()});
  return std::move(*plan);
}

//===----------------------------------------------------------------------===//
// With the model
//===----------------------------------------------------------------------===//

static Outcome applied(PlanStatus status, bool fromFile) {
  switch (status) {
  case PlanStatus::Applied:
    return Outcome::success();
  case PlanStatus::UnknownName:
    return fromFile ? ErrorKind::BadInput : ErrorKind::Usage;
  case PlanStatus::Infeasible:
    return ErrorKind::Infeasible;
  }
  return ErrorKind::Infeasible;
}

/// Tells of axes that leave devices with equal work, because nothing that they may take divides.
static void warnOfIdleAxes(const PlannedModule &planned) {
  mlir::ModuleOp module = planned.module;
  for (auto [index, axis] : llvm::enumerate(planned.mesh.axes)) {
    int64_t used = 1;
    for (unsigned tensor = 0; tensor < planned.function->values.size(); ++tensor)
      for (const AxisList &list : planned.shardings->get(tensor).dims)
        for (AxisRef part : list)
          if (part.axis == index)
            used = std::max(used, part.end());
    if (used < axis.size)
      module.emitWarning() << "axis '" << axis.name << "' of size " << axis.size << " splits "
                           << (used == 1 ? "nothing" : "by " + std::to_string(used) + " only")
                           << ": no dimension that it "
                           << (isBatchAxis(axis.name) ? "takes (the batch) " : "may take ")
                           << "divides by more; its devices repeat work";
  }
}

/// Adds what is written in the model itself to a plan that was started from options.
static Outcome complete(mlir::MLIRContext &context, const WrittenDecisions &written,
                        plan::Plan &plan) {
  if (written.mesh && plan.meshes(0).axes_size() > 0)
    return fail(context, ErrorKind::BadInput,
                "expected a model without a mesh: a plan brings it, here that of --mesh; leave "
                "--mesh out, and the model's own @" +
                    written.mesh->name() + " is taken");
  std::string problem = addWrittenDecisions(written, plan);
  if (problem.empty() && !plan.decisions().empty() && plan.meshes(0).axes().empty())
    problem = "there is no mesh to split over, name one with --mesh";
  if (problem.empty())
    problem = validatePlan(plan);
  return problem.empty() ? Outcome::success()
                         : fail(context, ErrorKind::Usage, "--shard: " + problem);
}

/// Adds what the search chooses for the axes that no pin mentions, on a copy of the module.
static Outcome choose(mlir::ModuleOp module, plan::Plan &plan) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  if (Outcome pinned = applied(applyPlan(*copy, plan), /*fromFile=*/false); pinned.failed())
    return pinned;
  std::optional<PlannedModule> planned = PlannedModule::get(*copy);
  if (!planned)
    return ErrorKind::Infeasible;
  chooseDecisions(*planned, plan);
  warnOfIdleAxes(*planned);
  return Outcome::success();
}

/// Makes every value's sharding follow from the plan.
static Result<PlannedModule> obey(mlir::ModuleOp module, const plan::Plan &plan, bool fromFile) {
  if (Outcome pinned = applied(applyPlan(module, plan), fromFile); pinned.failed())
    return pinned;
  std::optional<PlannedModule> planned = PlannedModule::get(module);
  if (!planned)
    return ErrorKind::Infeasible;
  planned->propagate();
  planned->annotate();
  return std::move(*planned);
}

Result<PlannedModule> weft::planModule(mlir::ModuleOp module, plan::Plan &plan) {
  mlir::MLIRContext &context = *module.getContext();
  std::string print = fingerprintOf(module);
  bool fromFile = plan.has_model() && !plan.model().fingerprint().empty();
  if (fromFile && plan.model().fingerprint() != print)
    return fail(context, ErrorKind::BadInput,
                "the plan is of another model, or of other sizes: expected fingerprint " +
                    plan.model().fingerprint() + ", got: " + print);
  plan.mutable_model()->set_fingerprint(print);
  mlir::PassManager passes(&context);
  passes.addNestedPass<mlir::func::FuncOp>(createSplitConstants());
  if (mlir::failed(passes.run(module)))
    return ErrorKind::BadInput;
  std::optional<WrittenDecisions> written = takeWrittenDecisions(module);
  if (!written)
    return ErrorKind::BadInput;
  if (!fromFile) {
    if (Outcome completed = complete(context, *written, plan); completed.failed())
      return completed;
    if (Outcome chosen = choose(module, plan); chosen.failed())
      return chosen;
  }
  return obey(module, plan, fromFile);
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
  Result<plan::Plan> plan = preparePlan(context, {planPath, "", {}}, load);
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
  Result<PlannedModule> planned = planModule(**module, *plan);
  if (planned.failed())
    return planned.getOutcome();
  return PlannedModel{std::move(*plan), std::move(*module), std::move(*planned)};
}
