#include "passes/Planning/Passes.h"

#include "compiler/Plan/PinPatterns.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"
#include "compiler/Plan/WrittenDecisions.h"
#include "passes/Planning/PlanState.h"

namespace weft {
#define GEN_PASS_DEF_APPLYPLAN
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct ApplyPlan : weft::impl::ApplyPlanBase<ApplyPlan> {
  using ApplyPlanBase::ApplyPlanBase;
  ApplyPlan(const ApplyPlanOptions &options, std::shared_ptr<PlanState> state)
      : ApplyPlanBase(options), state(std::move(state)) {}
  void runOnOperation() override;

private:
  PlanStatus refuse(PlanStatus status, const Twine &problem);
  PlanStatus readOptions();
  PlanStatus takeWritten();

  std::shared_ptr<PlanState> state = std::make_shared<PlanState>();
};
} // namespace

/// What is wrong with a request is wrong at no place in the module.
PlanStatus ApplyPlan::refuse(PlanStatus status, const Twine &problem) {
  emitError(UnknownLoc::get(&getContext())) << problem;
  return status;
}

/// The plan that the options name: a file, or meshes, cuts, and pins separated by ';'.
PlanStatus ApplyPlan::readOptions() {
  SmallVector<StringRef> pins;
  StringRef(shard).split(pins, ';', -1, /*KeepEmpty=*/false);
  std::string problem;
  std::optional<plan::Plan> given =
      plan.empty() ? startPlan(mesh, std::vector<std::string>(cuts.begin(), cuts.end()),
                               std::vector<std::string>(pins.begin(), pins.end()), problem)
                   : readPlan(plan.getValue(), problem);
  if (!given)
    return refuse(PlanStatus::BadRequest, problem);
  state->plan = std::move(*given);
  return PlanStatus::Applied;
}

/// What a request asks for that the model says itself.
static std::optional<std::string> findConflict(const WrittenDecisions &written,
                                               const plan::Plan &plan) {
  if (written.meshes.empty())
    return std::nullopt;
  std::string name = written.meshes.front().name();
  if (!plan.cuts().empty())
    return written.inParts
               ? "expected a model that is not in parts to cut, this one names its parts and their "
                 "meshes; leave --cut out"
               : "expected a model without a mesh to cut, this one is written for @" + name;
  if (llvm::any_of(plan.meshes(), [](const plan::Mesh &mesh) { return mesh.axes_size() > 0; }))
    return "expected a model without a mesh: a plan brings it, here that of --mesh; leave --mesh "
           "out, and the model's own @" +
           name + (written.meshes.size() > 1 ? " … are taken" : " is taken");
  return std::nullopt;
}

/// Adds what is written in the module itself to the plan.
PlanStatus ApplyPlan::takeWritten() {
  plan::Plan &plan = state->plan;
  auto main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock())
    return PlanStatus::Applied; // applyPlan says so
  std::optional<WrittenDecisions> written = takeWrittenDecisions(getOperation());
  if (!written)
    return PlanStatus::BadModel;
  if (state->isWhole)
    return PlanStatus::Applied;
  if (std::optional<std::string> why = findConflict(*written, plan))
    return refuse(PlanStatus::BadModel, *why);
  bool hasPins = !plan.decisions().empty();
  std::string problem = addWrittenDecisions(*written, plan);
  nameMeshes(plan);
  auto hasAxes = [](const plan::Mesh &mesh) { return !mesh.axes().empty(); };
  if (problem.empty() && !written->inParts && !plan.decisions().empty() &&
      llvm::none_of(plan.meshes(), hasAxes))
    problem = "there is no mesh to split over, name one with --mesh";
  if (problem.empty())
    problem = validatePlan(plan);
  if (problem.empty())
    return PlanStatus::Applied;
  return hasPins ? refuse(PlanStatus::BadRequest, "--shard: " + problem)
                 : refuse(PlanStatus::BadModel, problem);
}

void ApplyPlan::runOnOperation() {
  if (state->plan.meshes().empty())
    state->status = readOptions();
  if (state->status == PlanStatus::Applied)
    state->status = takeWritten();
  if (state->status == PlanStatus::Applied)
    state->status = cutParts(getOperation(), state->plan);
  if (state->status == PlanStatus::Applied && !state->isWhole)
    state->status = expandPinPatterns(getOperation(), state->plan);
  if (state->status == PlanStatus::Applied)
    state->status = applyPlan(getOperation(), state->plan);
  if (state->status != PlanStatus::Applied)
    return signalPassFailure();
  // What comes of the standard input cannot be read again.
  if (const std::string &cluster = state->plan.cluster(); !cluster.empty() && cluster != "-")
    getOperation()->setAttr(dist::kClusterAttr, StringAttr::get(&getContext(), cluster));
}

std::unique_ptr<Pass> weft::createApplyPlan(std::shared_ptr<PlanState> state,
                                            const ApplyPlanOptions &options) {
  return std::make_unique<ApplyPlan>(options, std::move(state));
}
