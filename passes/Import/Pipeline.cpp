#include "passes/Import/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void weft::buildImportPipeline(OpPassManager &manager, bool isTrained) {
  auto tidy = [&] {
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  };
  manager.addPass(createDropStopGradients(DropStopGradientsOptions{/*all=*/!isTrained}));
  tidy();
  manager.addPass(createRaiseViews());
  manager.addNestedPass<func::FuncOp>(createDropGuards());
  manager.addNestedPass<func::FuncOp>(createSinkViews());
  tidy();
  manager.addNestedPass<func::FuncOp>(createRaiseNorms());
  manager.addNestedPass<func::FuncOp>(createRaiseGelu());
  manager.addPass(createRaiseRotary());
  tidy();
  manager.addPass(createRaiseAttention());
  tidy();
  manager.addNestedPass<func::FuncOp>(createMoveViewsToWeights());
  tidy();
  manager.addPass(createDropUnusedWeights());
}

void weft::registerImportPipeline() {
  PassPipelineRegistration<>(
      "weft-import-pipeline",
      "canonical forms, semantic operations and views on weights, as every frontend runs it",
      [](OpPassManager &manager) { buildImportPipeline(manager); });
}
