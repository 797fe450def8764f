#include "tools/weft/Planning.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"
#include "compiler/Plan/WrittenDecisions.h"
#include "compiler/Search/ChooseDecisions.h"
#include "compiler/Search/GreedyChoice.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Planning/Passes.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <filesystem>

using namespace weft;
using namespace weft::tool;
namespace fs = std::filesystem;

void weft::tool::addPlanOptions(CLI::App &command, PlanOptions &options, bool withPlan) {
  auto *mesh = command.add_option("--mesh", options.mesh, "the devices: NAME=SIZE[,NAME=SIZE]…")
                   ->type_name("MESH");
  auto *shard = command
                    .add_option("--shard", options.shard,
                                "pin a value or weight: 'VALUE=[{data},{}]' (repeatable)")
                    ->type_name("PIN")
                    ->allow_extra_args(false);
  if (withPlan)
    command.add_option("--plan", options.plan, "a plan to obey (-: the standard input)")
        ->type_name("PLAN")
        ->excludes(mesh)
        ->excludes(shard);
}

//===----------------------------------------------------------------------===//
// Before the model
//===----------------------------------------------------------------------===//

/// Starts a plan from the command line. Origins other than the user's are filled in later.
static int startPlan(const PlanOptions &options, plan::Plan &plan) {
  std::string problem;
  plan.set_version(planVersion);
  plan::Mesh *mesh = plan.add_meshes();
  mesh->set_name("mesh"); // of one device, where none is given
  if (!options.mesh.empty()) {
    std::optional<plan::Mesh> parsed = parseMesh(options.mesh, problem);
    if (!parsed)
      return fail(Exit::Usage, "--mesh: " + problem);
    *mesh = *parsed;
  }
  for (const std::string &text : options.shard) {
    std::optional<plan::Decision> pin = parsePin(text, problem);
    if (!pin)
      return fail(Exit::Usage, "--shard: " + problem);
    *plan.add_decisions() = *pin;
  }
  if (options.mesh.empty()) // the model may bring one
    return Exit::Ok;
  problem = validatePlan(plan);
  return problem.empty() ? Exit::Ok : fail(Exit::Usage, "--shard: " + problem);
}

int weft::tool::preparePlan(const PlanOptions &options, ModelOptions &load, plan::Plan &plan) {
  if (options.plan.empty())
    return startPlan(options, plan);
  std::string problem;
  std::optional<plan::Plan> read = readPlan(options.plan, problem);
  if (!read)
    return fail(Exit::BadInput, problem);
  if (!read->has_model() || read->model().fingerprint().empty())
    return fail(Exit::BadInput, "plan " + options.plan + ": expected the model's fingerprint");
  plan = std::move(*read);
  for (const plan::DimBinding &dim : plan.model().dims())
    load.planDims.push_back({dim.name(), dim.size()});
  return Exit::Ok;
}

//===----------------------------------------------------------------------===//
// With the model
//===----------------------------------------------------------------------===//

static int applied(PlanStatus status, bool fromFile) {
  switch (status) {
  case PlanStatus::Applied:
    return Exit::Ok;
  case PlanStatus::UnknownName:
    return fromFile ? Exit::BadInput : Exit::Usage;
  case PlanStatus::Infeasible:
    return Exit::Infeasible;
  }
  return Exit::Infeasible;
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

/// Adds what is written in the model itself to a plan that was made from the command line.
static int complete(const WrittenDecisions &written, plan::Plan &plan) {
  if (written.mesh && plan.meshes(0).axes_size() > 0)
    return fail(Exit::BadInput, "expected a model without a mesh: a plan brings it, here that of "
                                "--mesh; leave --mesh out, and the model's own @" +
                                    written.mesh->name() + " is taken");
  if (std::string problem = addWrittenDecisions(written, plan); !problem.empty())
    return fail(Exit::Usage, "--shard: " + problem);
  if (!plan.decisions().empty() && plan.meshes(0).axes().empty())
    return fail(Exit::Usage, "--shard: there is no mesh to split over, name one with --mesh");
  std::string problem = validatePlan(plan);
  return problem.empty() ? Exit::Ok : fail(Exit::Usage, "--shard: " + problem);
}

/// Adds what the search chooses for the axes that no pin mentions, on a copy of the module.
static int choose(mlir::ModuleOp module, plan::Plan &plan) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  if (int code = applied(applyPlan(*copy, plan), /*fromFile=*/false))
    return code;
  std::optional<PlannedModule> planned = PlannedModule::get(*copy);
  if (!planned)
    return Exit::Infeasible;
  chooseDecisions(*planned, plan);
  warnOfIdleAxes(*planned);
  return Exit::Ok;
}

int weft::tool::planModule(mlir::ModuleOp module, plan::Plan &plan,
                           std::optional<PlannedModule> &planned) {
  PrintDiagnostics printer(module.getContext());
  std::string print = fingerprintOf(module);
  bool fromFile = plan.has_model() && !plan.model().fingerprint().empty();
  if (fromFile && plan.model().fingerprint() != print)
    return fail(Exit::BadInput,
                "the plan is of another model, or of other sizes: expected fingerprint " +
                    plan.model().fingerprint() + ", got: " + print);
  plan.mutable_model()->set_fingerprint(print);
  mlir::PassManager passes(module.getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createSplitConstants());
  if (mlir::failed(passes.run(module)))
    return Exit::BadInput;
  std::optional<WrittenDecisions> written = takeWrittenDecisions(module);
  if (!written)
    return Exit::BadInput;
  if (!fromFile) {
    if (int code = complete(*written, plan))
      return code;
    if (int code = choose(module, plan))
      return code;
  }
  if (int code = applied(applyPlan(module, plan), fromFile))
    return code;
  planned = PlannedModule::get(module);
  if (!planned)
    return Exit::Infeasible;
  planned->propagate();
  planned->annotate();
  return Exit::Ok;
}

int weft::tool::planModule(mlir::ModuleOp module, plan::Plan &plan) {
  std::optional<PlannedModule> planned;
  return planModule(module, plan, planned);
}

//===----------------------------------------------------------------------===//
// Where the model lies
//===----------------------------------------------------------------------===//

void weft::tool::noteModel(plan::Plan &plan, const std::string &modelPath,
                           const std::string &planPath, const ModelOptions &load) {
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

std::string weft::tool::findModel(const plan::Plan &plan, const std::string &planPath) {
  std::error_code error;
  fs::path relative = fs::weakly_canonical(planPath, error).parent_path() / plan.model().path();
  if (!plan.model().path().empty() && fs::exists(relative, error))
    return relative.string();
  return fs::exists(plan.model().absolute_path(), error) ? plan.model().absolute_path() : "";
}

int weft::tool::readPlanned(mlir::MLIRContext &context, const std::string &planPath,
                            const std::string &model, ModelOptions load, plan::Plan &plan,
                            mlir::OwningOpRef<mlir::ModuleOp> &module,
                            std::optional<PlannedModule> &planned) {
  if (int code = preparePlan({planPath, "", {}}, load, plan))
    return code;
  std::string path = model.empty() ? findModel(plan, planPath) : model;
  if (path.empty())
    return fail(Exit::BadInput, "the plan's model '" + plan.model().path() +
                                    "' is not there; name it with --model");
  if (int code = loadModel(context, path, load, /*requireData=*/false, module))
    return code;
  return planModule(*module, plan, planned);
}
