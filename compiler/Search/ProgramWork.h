//===- ProgramWork.h - work and its repetition in a function ---*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_PROGRAMWORK_H
#define WEFT_COMPILER_SEARCH_PROGRAMWORK_H

#include "compiler/Graph/Work.h"
#include "compiler/Search/WorkPrices.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Microbatches.h"

namespace weft {

/// How often operations run in a step.
class MicrobatchCounts {
public:
  explicit MicrobatchCounts(mlir::func::FuncOp function);

  /// The number of microbatches, of what comes of one, else 1.
  int64_t of(mlir::Operation &op) const {
    return op.getNumResults() > 0 && phases.varies(op.getResult(0)) ? count : 1;
  }

private:
  MicrobatchPhases phases;
  int64_t count;
};

/// What each node of a function computes.
std::vector<NodeWork> listWork(mlir::func::FuncOp main, const FunctionGraph &function);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_PROGRAMWORK_H
