//===- SplitMicrobatches.h - a step goes through its batch ------*- C++ -*-===//
//
// Time splits a step as a data axis splits a batch: a microbatch is what one of so many devices
// would have of it, but computed one after another by the same devices. So this is the partitioning
// of the step on a mesh of one batch axis, whose collectives read in time:
//
//   dist.all_reduce sum    the sum over microbatches, which is there behind the last one
//   any other              needs of a microbatch what others have: refused by name
//
// What carries the batch is of a microbatch's type afterwards, its arguments and results say so
// (weft.microbatch_dim); what does not is computed once a step; gradients are sums
// (dist.accumulate, of f32 at least). Of a mean over labels that are not ignored, in 4
// microbatches,
//
//   %n = reduce sum %valid            %n = dist.accumulate (reduce sum %valid)
//   %s = reduce sum %losses       →   %s = reduce sum %losses
//   %loss = div %s, %n                %loss = dist.accumulate (div %s, %n)
//
// a sum is used before the last microbatch where it depends on inputs alone: %n is summed up before
// anything else is computed (OutlineMicrobatches.h). Other sums, as a batch norm's, may not be.
// Positions along the batch count from where the microbatch starts (dist.microbatch).
//
// A step may take several batches of the model instead. Each is a microbatch, of which every
// operation sees what it was written for: nothing is split, and nothing refused. What is summed up
// over them was said when the step was made (weft-add-optimizer); the model's own states go from
// one to the next.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SPLITMICROBATCHES_H
#define WEFT_COMPILER_SEARCH_SPLITMICROBATCHES_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Lets @main of a module, which is in one part and has no mesh yet, go through its batch in
/// `count` microbatches. Fails, after an error at what first needs more than its microbatch, or
/// where there is no batch that `count` divides.
mlir::LogicalResult splitMicrobatches(mlir::ModuleOp module, int64_t count);

/// Lets @main of such a module take `count` times its batch, each a microbatch. Fails, after an
/// error, where there is no batch.
mlir::LogicalResult stackMicrobatches(mlir::ModuleOp module, int64_t count);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SPLITMICROBATCHES_H
