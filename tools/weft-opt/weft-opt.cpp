//===- weft-opt.cpp - runs passes on IR -----------------------------------===//

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "passes/Import/Passes.h"
#include "passes/Lowering/Passes.h"
#include "passes/Partition/Passes.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Planning/Passes.h"
#include "passes/Training/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, weft::WeftDialect, weft::dist::DistDialect,
                  weft::exec::ExecDialect>();
  mlir::registerTransformsPasses();
  weft::registerImportPasses();
  weft::registerImportPipeline();
  weft::registerLoweringPasses();
  weft::registerPartitionPasses();
  weft::registerPlanningPasses();
  weft::registerTrainingPasses();
  weft::registerPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Weft optimizer driver\n", registry));
}
