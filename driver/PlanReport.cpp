//===- PlanReport.cpp - what a plan costs ---------------------------------===//

#include "driver/PlanReport.h"

#include "compiler/Executable/Serialize.h"
#include "driver/Compile.h"

using namespace mlir;
using namespace weft;

Result<program::Executable> weft::lowerInPlace(ModuleOp planned, PhaseObserver *observer) {
  if (Outcome lowered = lowerModule(planned, {observer, /*verifies=*/false}); lowered.failed())
    return lowered;
  program::Executable executable;
  SmallVector<exec::WeightOp> weights;
  serializeProgram(planned, executable, weights);
  return executable;
}

Result<program::Executable> weft::lowerPlanned(ModuleOp planned) {
  OwningOpRef<ModuleOp> module(planned.clone());
  return lowerInPlace(*module);
}

Result<runtime::InspectReport> weft::reportPlan(ModuleOp planned) {
  Result<program::Executable> executable = lowerPlanned(planned);
  if (executable.failed())
    return executable.getOutcome();
  return runtime::inspectExecutable({"", std::move(*executable), 0});
}
