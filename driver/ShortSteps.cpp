//===- ShortSteps.cpp - short steps that stand for a deep one -------------===//

#include "driver/ShortSteps.h"

#include "compiler/Search/Extrapolate.h"
#include "compiler/Search/MakeProblem.h"
#include "driver/Concurrently.h"
#include "driver/Training.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Planning/PlanState.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// So many layers are looked at first: with fewer no layer of a transformer is so far from both
/// ends that it looks like one layer more. With more than the other number a model is tried as it
/// is.
static constexpr uint32_t firstLength = 8, lastLength = 16;

ShortModel::ShortModel(ModuleOp module)
    : shortener(module, /*least=*/firstLength + 2), length(firstLength) {
  loadDialects(*module.getContext());
}

/// Where a model is kept one run of which may be longer than the others, or its training step.
/// Those of one training are kept: they are asked for again with other meshes and less memory.
ShortModel::Kept &ShortModel::getPlace(const plan::Plan &asked, std::optional<size_t> longer) {
  std::string text = asked.has_training() ? asked.training().SerializeAsString() : std::string();
  if (text != training)
    modules.clear();
  training = text;
  std::vector<uint32_t> lengths;
  for (const BlockRun &run : shortener.getRuns())
    lengths.push_back(std::min(run.count, length));
  if (longer)
    ++lengths[*longer];
  return *modules.try_emplace(std::move(lengths)).first;
}

/// A copy of what is kept there, which is made if need be. Null where it cannot be made.
OwningOpRef<ModuleOp> ShortModel::makeModule(const plan::Plan &asked, Kept &kept) const {
  auto &[lengths, module] = kept;
  if (module)
    return module->clone();
  module = shortener.shorten(lengths);
  if (module && asked.has_training() &&
      trainModule(*module, asked.training(), /*fromFile=*/false, /*isTrial=*/true).failed())
    module = nullptr;
  return module ? module->clone() : OwningOpRef<ModuleOp>();
}

/// Makes the step of a short model. Null where it cannot be made.
std::unique_ptr<StepProblem> ShortModel::makeStep(const plan::Plan &asked, Kept &kept) const {
  auto step = std::make_unique<StepProblem>();
  step->module = makeModule(asked, kept);
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

/// The steps at one length. None where some cannot be made.
std::optional<ShortSteps> ShortModel::makeSteps(const plan::Plan &asked, unsigned threads) {
  ShortSteps made;
  std::vector<Kept *> places = {&getPlace(asked, std::nullopt)};
  made.shares.push_back(1);
  for (auto [index, run] : llvm::enumerate(shortener.getRuns())) {
    if (run.count <= length)
      continue;
    places.push_back(&getPlace(asked, index));
    made.shares.push_back(double(run.count - length));
    made.shares.front() -= made.shares.back();
  }
  made.steps.resize(places.size());
  doConcurrently(places.size(), threads,
                 [&](size_t i) { made.steps[i] = makeStep(asked, *places[i]); });
  bool isMade = llvm::all_of(made.steps, [](const auto &step) { return step != nullptr; });
  return isMade ? std::optional(std::move(made)) : std::nullopt;
}

std::optional<ShortSteps> ShortModel::make(const plan::Plan &asked, unsigned threads) {
  for (; length <= lastLength; ++length) {
    std::optional<ShortSteps> made = makeSteps(asked, threads);
    if (!made)
      return std::nullopt;
    std::vector<FurtherLayers> further;
    for (size_t i = 1; i < made->steps.size(); ++i)
      further.push_back({&made->steps[i]->problem, made->shares[i]});
    if (extrapolate(made->steps.front()->problem, further))
      return made;
  }
  return std::nullopt;
}

bool ShortModel::isMakable(const plan::Plan &asked) {
  return makeStep(asked, getPlace(asked, std::nullopt)) != nullptr;
}
