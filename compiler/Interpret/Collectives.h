//===- Collectives.h - dist operations on all ranks' values -----*- C++ -*-===//

#ifndef WEFT_COMPILER_INTERPRET_COLLECTIVES_H
#define WEFT_COMPILER_INTERPRET_COLLECTIVES_H

#include "compiler/Interpret/Interpret.h"

namespace weft {

/// The result of an operation of the dist dialect on every rank. `input` is the operand's value on
/// every rank (empty for operations without). The program runs on `mesh`; operations on another
/// mesh fail.
llvm::Expected<RankValues> evaluateDist(mlir::Operation *op, dist::MeshOp mesh,
                                        llvm::ArrayRef<Tensor> input, WeightReader weights);

/// Values of one type joined element by element, in their order.
Tensor joinTensors(ReduceKind kind, llvm::ArrayRef<Tensor> values);

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_COLLECTIVES_H
