//===- Pipelines.h - passes in the order of compilation ---------*- C++ -*-===//
//
// The phases of `weft compile` behind import and planning. Each is also a flag of weft-opt.
//
//   --weft-partition-pipeline   global tensors with shardings → the program of one device
//   --weft-kernel-pipeline      attention decomposed, fusion groups outlined
//   --weft-exec-pipeline        instructions selected over buffers, scheduled, placed in arenas
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PIPELINES_PIPELINES_H
#define WEFT_PASSES_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace weft {

/// Needs shardings on values (planning); a module without mesh is for one device.
void buildPartitionPipeline(mlir::OpPassManager &manager);

/// Needs a partitioned module.
void buildKernelPipeline(mlir::OpPassManager &manager);

/// Needs formed kernels, which stay in the module.
void buildExecPipeline(mlir::OpPassManager &manager);

/// Registers the three flags.
void registerPipelines();

} // namespace weft

#endif // WEFT_PASSES_PIPELINES_PIPELINES_H
