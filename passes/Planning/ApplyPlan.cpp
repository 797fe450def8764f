#include "passes/Planning/Passes.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"

namespace weft {
#define GEN_PASS_DEF_APPLYPLAN
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct ApplyPlan : weft::impl::ApplyPlanBase<ApplyPlan> {
  using ApplyPlanBase::ApplyPlanBase;
  void runOnOperation() override;
};
} // namespace

/// The plan that a mesh and pins separated by ';' make.
static std::optional<plan::Plan> makePlan(const std::string &mesh, const std::string &pins,
                                          std::string &problem) {
  plan::Plan plan;
  plan.set_version(planVersion);
  std::optional<plan::Mesh> parsed = parseMesh(mesh, problem);
  if (!parsed)
    return std::nullopt;
  *plan.add_meshes() = *parsed;
  SmallVector<StringRef> texts;
  StringRef(pins).split(texts, ';', -1, /*KeepEmpty=*/false);
  for (StringRef text : texts) {
    std::optional<plan::Decision> pin = parsePin(text.str(), problem);
    if (!pin)
      return std::nullopt;
    *plan.add_decisions() = *pin;
  }
  problem = validatePlan(plan);
  return problem.empty() ? std::optional(plan) : std::nullopt;
}

void ApplyPlan::runOnOperation() {
  std::string problem;
  std::optional<plan::Plan> parsed =
      plan.empty() ? makePlan(mesh, shard, problem) : readPlan(plan.getValue(), problem);
  if (!parsed) {
    getOperation().emitError() << problem;
    return signalPassFailure();
  }
  if (applyPlan(getOperation(), *parsed) != PlanStatus::Applied)
    signalPassFailure();
}
