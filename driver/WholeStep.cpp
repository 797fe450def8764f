#include "driver/WholeStep.h"

#include "driver/FitPlan.h"
#include "driver/Training.h"

using namespace mlir;
using namespace weft;

void WholeStep::begin(ModuleOp model, const plan::Training &training) {
  if (made.valid())
    return;
  begun = training.SerializeAsString();
  // Copied here: nobody knows what becomes of the model while the other thread goes on.
  OwningOpRef<ModuleOp> own(model.clone());
  made = std::async(std::launch::async, [copy = std::move(own), training]() mutable {
    MLIRContext &context = *copy->getContext();
    auto said = std::make_unique<HeldDiagnostics>(context, HeldDiagnostics::Of::ThisThread);
    if (trainModule(*copy, training, /*fromFile=*/false).failed())
      copy = nullptr;
    said->stop();
    return Made{std::move(copy), std::move(said)};
  });
}

bool WholeStep::take(ModuleOp model, const plan::Training &training) {
  if (!made.valid() || begun != training.SerializeAsString())
    return false;
  Made step = made.get();
  if (!step.module)
    return false;
  step.said->emit();
  takeCopy(model, *step.module);
  return true;
}
