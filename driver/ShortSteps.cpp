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
/// ends that it looks like one layer more. Where that does not do, since something goes from layer
/// to layer in few steps (the sum of what all of them give to the gradient of one bias), so many
/// more are. With more than the last number a model is tried as it is.
static constexpr uint32_t firstLength = 8, furtherLength = 4, lastLength = 16;

ShortModel::ShortModel(ModuleOp module)
    : shortener(module, /*least=*/firstLength + 2), length(firstLength) {
  loadDialects(*module.getContext());
}

/// What was made for another training is dropped, but for what both have in common: that of one is
/// asked for again, with other meshes and less memory.
void ShortModel::turnTo(const plan::Plan &asked) {
  bool isTrained = asked.has_training();
  std::string text = isTrained ? asked.training().SerializeAsString() : std::string();
  if (text == training)
    return;
  training = text;
  made = nullptr;
  places.clear();
  std::string asKey = isTrained ? getTrainingKey(asked.training()) : std::string();
  if (asKey != key)
    modules.clear();
  key = std::move(asKey);
  for (auto &[lengths, kept] : modules)
    kept.step = nullptr;
}

/// Where a model is kept one run of which may be longer than the others, or its training step.
ShortModel::Kept &ShortModel::getPlace(std::optional<size_t> longer) {
  std::vector<uint32_t> lengths;
  for (const BlockRun &run : shortener.getRuns())
    lengths.push_back(std::min(run.count, length));
  if (longer)
    ++lengths[*longer];
  return *modules.try_emplace(std::move(lengths)).first;
}

/// Of a short model what its training steps have in common. Null where there are none.
OwningOpRef<ModuleOp> ShortModel::begin(const plan::Plan &asked, ArrayRef<uint32_t> lengths) const {
  OwningOpRef<ModuleOp> module = shortener.shorten(lengths);
  if (module && asked.has_training() &&
      beginTraining(*module, asked.training(), /*fromFile=*/false, /*isTrial=*/true).failed())
    return nullptr;
  return module;
}

/// A copy of what is kept there, which is made if need be. Null where it cannot be made.
OwningOpRef<ModuleOp> ShortModel::makeModule(const plan::Plan &asked, Kept &kept) const {
  auto &[lengths, known] = kept;
  if (!known.begun)
    known.begun = begin(asked, lengths);
  if (!known.begun || !asked.has_training())
    return known.begun ? known.begun->clone() : OwningOpRef<ModuleOp>();
  if (!known.step) {
    known.step = known.begun->clone();
    if (finishTraining(*known.step, asked.training(), /*isTrial=*/true).failed())
      known.step = nullptr;
  }
  return known.step ? known.step->clone() : OwningOpRef<ModuleOp>();
}

/// Makes the step of a short model on a mesh. False where it cannot be made.
bool ShortModel::place(const plan::Plan &asked, Kept &kept, PlacedStep &step) const {
  step.module = makeModule(asked, kept);
  if (!step.module)
    return false;
  auto state = std::make_shared<PlanState>();
  state->plan = asked;
  PassManager passes(step.module->getContext());
  passes.enableVerifier(false);
  buildPinPipeline(passes, state);
  if (failed(passes.run(*step.module)))
    return false;
  std::optional<PlannedModule> planned = PlannedModule::get(*step.module);
  if (!planned || planned->parts.size() != 1)
    return false;
  step.planned = std::move(*planned);
  return true;
}

/// Makes a step and its problem. Null where it cannot be made.
std::unique_ptr<StepProblem> ShortModel::makeStep(const plan::Plan &asked, Kept &kept) const {
  auto step = std::make_unique<StepProblem>();
  if (!place(asked, kept, *step))
    return nullptr;
  step->problem = makeProblem(step->planned.parts.front());
  return step;
}

/// The steps at one length. Null where some cannot be made.
std::shared_ptr<ShortSteps> ShortModel::makeSteps(const plan::Plan &asked, unsigned threads) {
  auto steps = std::make_shared<ShortSteps>();
  places = {&getPlace(std::nullopt)};
  steps->shares.push_back(1);
  for (auto [index, run] : llvm::enumerate(shortener.getRuns())) {
    if (run.count <= length)
      continue;
    places.push_back(&getPlace(index));
    steps->shares.push_back(double(run.count - length));
    steps->shares.front() -= steps->shares.back();
  }
  steps->steps.resize(places.size());
  doConcurrently(places.size(), threads,
                 [&](size_t i) { steps->steps[i] = makeStep(asked, *places[i]); });
  bool isMade = llvm::all_of(steps->steps, [](const auto &step) { return step != nullptr; });
  return isMade ? steps : nullptr;
}

std::shared_ptr<const ShortSteps> ShortModel::make(const plan::Plan &asked, unsigned threads) {
  turnTo(asked);
  for (; !made && length <= lastLength; length += furtherLength) {
    std::shared_ptr<ShortSteps> steps = makeSteps(asked, threads);
    if (!steps)
      return nullptr;
    std::vector<FurtherLayers> further;
    for (size_t i = 1; i < steps->steps.size(); ++i)
      further.push_back({&steps->steps[i]->problem, steps->shares[i]});
    if (extrapolate(steps->steps.front()->problem, further)) {
      made = std::move(steps);
      break;
    }
  }
  return made;
}

std::unique_ptr<PlacedStep> ShortModel::place(const plan::Plan &asked, size_t number) const {
  auto step = std::make_unique<PlacedStep>();
  return place(asked, *places[number], *step) ? std::move(step) : nullptr;
}

bool ShortModel::isMakable(const plan::Plan &asked) {
  turnTo(asked);
  return makeStep(asked, getPlace(std::nullopt)) != nullptr;
}
