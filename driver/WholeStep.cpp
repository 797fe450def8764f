#include "driver/WholeStep.h"

#include "driver/FitPlan.h"
#include "driver/Training.h"

using namespace mlir;
using namespace weft;

void WholeStep::begin(ModuleOp model, const plan::Training &training) {
  std::lock_guard lock(mutex);
  if (making.valid() || made.said)
    return;
  begun = getTrainingKey(training);
  // Copied here: nobody knows what becomes of the model while the other thread goes on.
  OwningOpRef<ModuleOp> own(model.clone());
  making = std::async(std::launch::async, [copy = std::move(own), training]() mutable {
    MLIRContext &context = *copy->getContext();
    auto said = std::make_unique<HeldDiagnostics>(context, HeldDiagnostics::Of::ThisThread);
    if (beginTraining(*copy, training, /*fromFile=*/false, /*isTrial=*/false).failed())
      copy = nullptr;
    said->stop();
    return Made{std::move(copy), std::move(said)};
  });
}

WholeStep::Made *WholeStep::find(const plan::Training &training) {
  std::lock_guard lock(mutex);
  if (making.valid())
    made = making.get();
  return made.module && begun == getTrainingKey(training) ? &made : nullptr;
}

bool WholeStep::take(ModuleOp model, const plan::Training &training) {
  Made *step = find(training);
  if (!step || finishTraining(*step->module, training, /*isTrial=*/false).failed())
    return false;
  step->said->emit();
  takeCopy(model, *step->module);
  *step = {};
  return true;
}

bool WholeStep::copy(ModuleOp model, const plan::Training &training) {
  Made *step = find(training);
  OwningOpRef<ModuleOp> own = step ? step->module->clone() : ModuleOp();
  if (!own || finishTraining(*own, training, /*isTrial=*/true).failed())
    return false;
  takeCopy(model, *own);
  return true;
}
