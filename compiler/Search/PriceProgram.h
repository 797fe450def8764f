//===- PriceProgram.h - seconds of a partitioned function -------*- C++ -*-===//

#ifndef WEFT_COMPILER_SEARCH_PRICEPROGRAM_H
#define WEFT_COMPILER_SEARCH_PRICEPROGRAM_H

#include "compiler/Search/MeshPrices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// Seconds of what one device does in a step.
struct ProgramPrice {
  double compute = 0;
  double collectives = 0;
  int64_t numCollectives = 0; ///< but cuts
};

/// Prices what the partitioner left, with the prices by which the search chose it: each operation
/// by its local shapes, each collective by its own.
ProgramPrice priceProgram(mlir::func::FuncOp partitioned, MeshPrices &prices);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_PRICEPROGRAM_H
