//===- ShortSteps.cpp - short steps that stand for a deep one -------------===//

#include "driver/ShortSteps.h"

#include "compiler/Search/Extrapolate.h"
#include "compiler/Search/SearchDecisions.h"
#include "driver/Training.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Planning/PlanState.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// So many layers are looked at first: less than that no layer is far from both ends. With more
/// than the other number a model is tried as it is.
static constexpr uint32_t firstLength = 7, lastLength = 16;

ShortModel::ShortModel(ModuleOp module)
    : shortener(module, /*least=*/firstLength + 2), length(firstLength) {}

/// A model with so many layers, or its training step. Those of one training are kept: they are
/// asked for again with other meshes and less memory. Null where it cannot be made.
OwningOpRef<ModuleOp> ShortModel::makeModule(const plan::Training *asked,
                                             const std::vector<uint32_t> &lengths) {
  std::string text = asked ? asked->SerializeAsString() : std::string();
  if (text != training)
    modules.clear();
  training = text;
  OwningOpRef<ModuleOp> &module = modules[lengths];
  if (module)
    return module->clone();
  module = shortener.shorten(lengths);
  if (!module ||
      (asked && trainModule(*module, *asked, /*fromFile=*/false, /*isTrial=*/true).failed())) {
    module = nullptr;
    return nullptr;
  }
  return module->clone();
}

/// Makes the step of a short model, one run of which may be longer than the others. Null where it
/// cannot be made.
std::unique_ptr<StepProblem> ShortModel::makeStep(const plan::Plan &asked,
                                                  std::optional<size_t> longer) {
  std::vector<uint32_t> lengths;
  for (const BlockRun &run : shortener.getRuns())
    lengths.push_back(std::min(run.count, length));
  if (longer)
    ++lengths[*longer];
  auto step = std::make_unique<StepProblem>();
  step->module = makeModule(asked.has_training() ? &asked.training() : nullptr, lengths);
  if (!step->module)
    return nullptr;
  auto state = std::make_shared<PlanState>();
  state->plan = asked;
  PassManager passes(step->module->getContext());
  passes.enableVerifier(false);
  buildPinPipeline(passes, state);
  if (failed(passes.run(*step->module)))
    return nullptr;
  std::optional<PlannedModule> planned = PlannedModule::get(*step->module);
  if (!planned || planned->parts.size() != 1)
    return nullptr;
  step->planned = std::move(*planned);
  step->problem = makeProblem(step->planned.parts.front());
  return step;
}

std::optional<ShortSteps> ShortModel::make(const plan::Plan &asked) {
  for (; length <= lastLength; ++length) {
    ShortSteps made;
    made.steps.push_back(makeStep(asked, std::nullopt));
    made.shares.push_back(1);
    if (!made.steps.front())
      return std::nullopt;
    std::vector<FurtherLayers> further;
    for (auto [index, run] : llvm::enumerate(shortener.getRuns())) {
      if (run.count <= length)
        continue;
      made.steps.push_back(makeStep(asked, index));
      if (!made.steps.back())
        return std::nullopt;
      further.push_back({&made.steps.back()->problem, double(run.count - length)});
      made.shares.push_back(further.back().count);
      made.shares.front() -= further.back().count;
    }
    if (extrapolate(made.steps.front()->problem, further))
      return made;
  }
  return std::nullopt;
}
