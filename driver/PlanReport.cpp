//===- PlanReport.cpp - what a plan costs ---------------------------------===//

#include "driver/PlanReport.h"

#include "compiler/Executable/Serialize.h"
#include "driver/Compile.h"

using namespace mlir;
using namespace weft;

Result<program::Executable> weft::lowerPlanned(ModuleOp planned, PhaseObserver *observer) {
  OwningOpRef<ModuleOp> module(planned.clone());
  if (Outcome lowered = lowerModule(*module, observer, /*verifies=*/false); lowered.failed())
    return lowered;
  program::Executable executable;
  SmallVector<exec::WeightOp> weights;
  serializeProgram(*module, executable, weights);
  return executable;
}

Result<runtime::InspectReport> weft::reportPlan(ModuleOp planned) {
  Result<program::Executable> executable = lowerPlanned(planned);
  if (executable.failed())
    return executable.getOutcome();
  return runtime::inspectExecutable({"", std::move(*executable), 0});
}
