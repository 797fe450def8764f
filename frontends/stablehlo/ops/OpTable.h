//===- OpTable.h - which operations can be imported -------------*- C++ -*-===//
//
// One function an operation, alphabetical within its family. The table is the list of what is
// supported.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_OPS_OPTABLE_H
#define WEFT_FRONTENDS_STABLEHLO_OPS_OPTABLE_H

#include "frontends/stablehlo/Walker.h"

namespace weft::frontend::stablehlo {

void addArithmetic(OpTable &table);
void addBits(OpTable &table);
void addConstants(OpTable &table);
void addControl(OpTable &table);
void addConvolution(OpTable &table);
void addDynamic(OpTable &table);
void addGather(OpTable &table);
void addProducts(OpTable &table);
void addReductions(OpTable &table);
void addScatter(OpTable &table);
void addShapes(OpTable &table);
void addSorting(OpTable &table);
void addWindows(OpTable &table);

inline OpTable makeOpTable() {
  OpTable table;
  for (auto add :
       {addArithmetic, addBits, addConstants, addControl, addConvolution, addDynamic, addGather,
        addProducts, addReductions, addScatter, addShapes, addSorting, addWindows})
    add(table);
  return table;
}

// Parts shared by operations of several families.

/// Sizes grow by `low`, `high` and `interior` elements of `value` between each two; negative `low`
/// and `high` cut elements off.
mlir::Value emitPad(Emitter &emit, mlir::Value input, mlir::Value value,
                    llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                    llvm::ArrayRef<int64_t> interior);
/// min(max(x, low), high) of integers.
mlir::Value emitClamp(Emitter &emit, mlir::Value x, int64_t low, int64_t high);
/// Indices as i64, which holds them all but for unsigned ones of 2^63 and more; those become
/// 2^63-1.
mlir::Value emitIndices(Emitter &emit, mlir::Value indices);
/// A call of XLA's `ApproxTopK`, as XLA computes it where it has no approximation: exactly.
void importApproxTopK(Instruction &op);

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_OPS_OPTABLE_H
