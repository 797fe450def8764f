//===- StageSums.h - sums of what several stages make -----------*- C++ -*-===//
//
// A sum over all weights (the norm of gradients), or over several stages (the gradient of a weight
// that they share), is parenthesised by stage, so that each hands on one value, and not one a term:
//
//   ((a0 + b1) + c0) + d1   →   (a0 + c0) + (b1 + d1)       a, c of stage 0, b, d of stage 1
//
// Of microbatches each stage sums up its own, and hands on what is there behind the last:
//
//   accumulate (a0 + b1)    →   accumulate a0 + accumulate b1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_STAGESUMS_H
#define WEFT_COMPILER_SHARDING_STAGESUMS_H

#include "compiler/Sharding/PartAssignment.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {

/// Rewrites the sums of a step behind its forward pass, and assigns what comes of them.
void sumByStage(mlir::Block &body, const llvm::DenseSet<mlir::Operation *> &forward,
                PartAssignment &assignment);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_STAGESUMS_H
