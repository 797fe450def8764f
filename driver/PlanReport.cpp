//===- PlanReport.cpp - what a plan costs ---------------------------------===//

#include "driver/PlanReport.h"

#include "compiler/Executable/Serialize.h"
#include "driver/Compile.h"

using namespace mlir;
using namespace weft;

Result<runtime::InspectReport> weft::reportPlan(ModuleOp planned) {
  OwningOpRef<ModuleOp> module(planned.clone());
  if (Outcome lowered = lowerModule(*module); lowered.failed())
    return lowered;
  runtime::Executable executable;
  SmallVector<exec::WeightOp> weights;
  serializeProgram(*module, executable.proto, weights);
  return runtime::inspectExecutable(executable);
}
