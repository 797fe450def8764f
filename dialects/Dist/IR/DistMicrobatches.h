//===- DistMicrobatches.h - steps that go through a batch -------*- C++ -*-===//
//
// A function marked `weft.microbatches` = N goes through its batch in N microbatches: arguments and
// results that are marked `weft.microbatch_dim` are of one of them, whose rows divide that
// dimension; sums over microbatches are dist.accumulate.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_DIST_IR_DISTMICROBATCHES_H
#define WEFT_DIALECTS_DIST_IR_DISTMICROBATCHES_H

#include "dialects/Dist/IR/DistDialect.h"

namespace weft::dist {
inline constexpr llvm::StringLiteral kMicrobatchesAttr = "weft.microbatches";
inline constexpr llvm::StringLiteral kMicrobatchDimAttr = "weft.microbatch_dim";
} // namespace weft::dist

#define GET_OP_CLASSES
#include "dialects/Dist/IR/DistMicrobatches.h.inc"

#endif // WEFT_DIALECTS_DIST_IR_DISTMICROBATCHES_H
