#include "passes/Pipelines/Pipelines.h"

#include "passes/Lowering/Passes.h"
#include "passes/Partition/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void weft::buildPartitionPipeline(OpPassManager &manager) {
  manager.addPass(createPartition());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void weft::buildKernelPipeline(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createDecomposeAttention());
  manager.addNestedPass<func::FuncOp>(createDecomposeWindows());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createFormKernels());
}

void weft::buildExecPipeline(OpPassManager &manager) {
  manager.addPass(createSelectInstructions());
  manager.addPass(createScheduleInstructions());
  manager.addPass(createPlaceBuffers());
}

void weft::registerPipelines() {
  PassPipelineRegistration<>("weft-partition-pipeline",
                             "from a planned module to the program of one device",
                             buildPartitionPipeline);
  PassPipelineRegistration<>("weft-kernel-pipeline",
                             "decomposes attention and outlines fusion groups",
                             buildKernelPipeline);
  PassPipelineRegistration<>("weft-exec-pipeline", "selects, schedules and places instructions",
                             buildExecPipeline);
}
