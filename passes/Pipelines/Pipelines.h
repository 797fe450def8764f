//===- Pipelines.h - passes in the order of compilation ---------*- C++ -*-===//
//
// The phases of `weft compile` between a loaded model and code. Each is also a flag of weft-opt.
//
//   --weft-train-pipeline       a model and a request → a training step
//   --weft-plan-pipeline        a plan, or a mesh and pins → global tensors with shardings
//   --weft-partition-pipeline   global tensors with shardings → the program of one device
//   --weft-kernel-pipeline      attention decomposed, fusion groups outlined
//   --weft-select-pipeline      instructions selected over buffers
//   --weft-exec-pipeline        instructions scheduled, buffers placed in arenas
//
// Before them, --weft-import-pipeline raises what frontends make (passes/Import/Passes.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PIPELINES_PIPELINES_H
#define WEFT_PASSES_PIPELINES_PIPELINES_H

#include "compiler/Kernel/Target.h"
#include "passes/Planning/PlanState.h"

#include "mlir/Pass/PassManager.h"

namespace weft {

/// Adds the loss, and says what is trained. Fails where the request, which validateTraining has
/// accepted, does not fit the model.
void buildTrainRequestPipeline(mlir::OpPassManager &manager, const plan::Training &training);

/// Makes a training step of a model with a loss and trained weights.
void buildTrainStepPipeline(mlir::OpPassManager &manager, const plan::Training &training);

/// Has the step compute again what the training says, instead of keeping it.
void buildRecomputePipeline(mlir::OpPassManager &manager, const plan::Training &training);

/// Completes and obeys the plan in `state` (which has one): what is written in the module becomes
/// part of it; what is open is chosen, unless it is whole; every value gets its sharding.
void buildPlanPipeline(mlir::OpPassManager &manager, std::shared_ptr<PlanState> state);

/// Its first part: what the plan in `state` decides is in the module, and nothing is chosen yet.
void buildPinPipeline(mlir::OpPassManager &manager, std::shared_ptr<PlanState> state);

// Of the pipelines below each is told for which device it lowers, by the name of a target
// (compiler/Kernel/Target.h).

/// Needs shardings on values (planning); a module without mesh is for one device.
void buildPartitionPipeline(mlir::OpPassManager &manager, llvm::StringRef target);

/// Needs a partitioned module.
void buildKernelPipeline(mlir::OpPassManager &manager, llvm::StringRef target);

/// Needs formed kernels, which stay in the module.
void buildSelectPipeline(mlir::OpPassManager &manager, llvm::StringRef target);

/// Needs programs over buffers.
void buildExecPipeline(mlir::OpPassManager &manager, llvm::StringRef target);

/// A phase of compilation that is one of the pipelines above.
struct LoweringPhase {
  llvm::StringLiteral name; ///< as in --dump-ir-after
  llvm::StringLiteral flag, description;
  void (*build)(mlir::OpPassManager &manager, llvm::StringRef target);
};

/// Loads the dialects of all these pipelines: afterwards several threads may run them.
void loadDialects(mlir::MLIRContext &context);

/// The phase that leaves programs over buffers.
inline constexpr llvm::StringLiteral selectPhase = "select";

/// Those that bring a planned module to instructions in arenas, in their order.
llvm::ArrayRef<LoweringPhase> listLoweringPhases();

/// Registers the flags.
void registerPipelines();

} // namespace weft

#endif // WEFT_PASSES_PIPELINES_PIPELINES_H
