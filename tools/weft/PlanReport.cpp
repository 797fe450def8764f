//===- PlanReport.cpp - what a plan costs ---------------------------------===//

#include "tools/weft/PlanReport.h"

#include "compiler/Executable/Serialize.h"
#include "passes/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace weft::tool;

std::optional<InspectReport> weft::tool::reportPlan(ModuleOp planned) {
  OwningOpRef<ModuleOp> module(planned.clone());
  PassManager passes(planned.getContext());
  buildPartitionPipeline(passes);
  buildKernelPipeline(passes);
  buildExecPipeline(passes);
  if (failed(passes.run(*module)))
    return std::nullopt;
  runtime::Executable executable;
  SmallVector<exec::WeightOp> weights;
  serializeProgram(*module, executable.proto, weights);
  return inspectExecutable(executable);
}
