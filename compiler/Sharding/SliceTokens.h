//===- SliceTokens.h - sequences in slices ----------------------*- C++ -*-===//
//
// A training step in stages may hand on the sequence of a microbatch slice by slice: a stage begins
// with the first tokens while the stage before it is at the next ones (TeraPipe). Parts are
// rewritten for that, once they are planned and before they are partitioned. What SequenceDims
// finds to be sliced is computed for each slice by itself, as its factor rule builds one shard:
//
//   %y = dot_general %x, %w                  %y0 = dot_general %x0, %w    {weft.level = 0}
//   %o = attention %q, %k, %v causal         %y1 = dot_general %x1, %w    {weft.level = 1}
//                                            %o1 = attention %q1, concat(%k0, %k1), … query_offset
//
// and what a reduction over tokens leaves are sums of the slices': of gradients each goes onto the
// sum of the microbatches (dist.accumulate). The gradients of keys go from the last slice to the
// first, each of which adds its own. What is not sliced takes the slices joined.
//
// A level says no earlier than when an operation is done: slices of the forward pass have 0 … n-1
// in their order, those of the backward pass n … 2n-1 in the order in which gradients are there,
// the last slice first. StagePhases.h makes phases of them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_SLICETOKENS_H
#define WEFT_COMPILER_SHARDING_SLICETOKENS_H

#include "compiler/Sharding/Parts.h"

namespace weft {

/// On an operation: its level.
inline constexpr llvm::StringLiteral kLevelAttr = "weft.level";

/// The slices that the step of a module asks for (weft.training); 1: none.
int64_t countSlices(mlir::ModuleOp module);

/// Tokens of each slice of a planned step: those that it asks for, else about equal, the longer
/// ones first, and multiples of the largest power of two that leaves them so. Fails, after an
/// error, where its sequences go in no such slices.
mlir::FailureOr<llvm::SmallVector<int64_t>> findSliceLengths(mlir::ModuleOp planned);

/// Rewrites stages for the slices that their step asks for. Fails, after an error, where that
/// cannot be.
mlir::LogicalResult sliceTokens(mlir::ModuleOp module);

/// The same, without rewriting anything.
mlir::LogicalResult checkSlices(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_SLICETOKENS_H
