//===- OutlineMicrobatches.h - one part for each phase ----------*- C++ -*-===//
//
// Makes parts (Parts.h) of the program of one device that goes through its batch in N microbatches:
//
//   @begin        sums are set to zero
//   @count        N times: early sums (Microbatches.h) are added to
//   @prepare      what is computed of weights or early sums, alike for every microbatch
//   @microbatch   N - 1 times: the other sums are added to
//   @update       the last microbatch, whose sums are final: what uses them follows at once, and
//                 communication of gradients runs beside what is left of the backward pass
//
// Sums are kept in memory that the parts share (kAccumulatorAttr), outside the frames of
// microbatches; so are the states that every microbatch changes, which the step's last one stores,
// and the number of the microbatch, where that is asked for. A weight that is stored otherwise
// than it is read is gathered or exchanged for each microbatch anew.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_OUTLINEMICROBATCHES_H
#define WEFT_COMPILER_SHARDING_OUTLINEMICROBATCHES_H

#include "compiler/Sharding/Parts.h"

namespace weft {

/// Whether no result of @main is of a microbatch; else an error.
mlir::LogicalResult checkResults(mlir::func::FuncOp main);

/// Makes the parts of @main, if it goes through microbatches. Fails, after an error, where a result
/// is of a microbatch.
mlir::LogicalResult outlineMicrobatches(const Part &main);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_OUTLINEMICROBATCHES_H
