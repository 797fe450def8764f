//===- Passes.h - a model becomes a training step ---------------*- C++ -*-===//

#ifndef WEFT_PASSES_TRAINING_PASSES_H
#define WEFT_PASSES_TRAINING_PASSES_H

#include "compiler/Plan/plan.pb.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Training/Passes.h.inc"

/// Of a request that validateTraining has accepted, instead of the option.
std::unique_ptr<mlir::Pass> createAddLoss(const plan::Training &training);
std::unique_ptr<mlir::Pass> createAddOptimizer(const plan::Training &training);
std::unique_ptr<mlir::Pass> createSelectParameters(const plan::Training &training);

} // namespace weft

#endif // WEFT_PASSES_TRAINING_PASSES_H
