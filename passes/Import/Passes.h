//===- Passes.h - from an imported graph to semantic operations -*- C++ -*-===//

#ifndef WEFT_PASSES_IMPORT_PASSES_H
#define WEFT_PASSES_IMPORT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Import/Passes.h.inc"

/// Everything between a frontend's graph and planning: canonical forms, semantic operations, views
/// on weights. Of a model that is not trained nothing is left that only differentiation looks at.
void buildImportPipeline(mlir::OpPassManager &manager, bool isTrained = true);

/// Registers --weft-import-pipeline.
void registerImportPipeline();

} // namespace weft

#endif // WEFT_PASSES_IMPORT_PASSES_H
