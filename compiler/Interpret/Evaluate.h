//===- Evaluate.h - the value of one operation ------------------*- C++ -*-===//
//
// The reference meaning of the weft dialect: each operation evaluated on host tensors. Used to fold
// constants, and to check every plan and every generated program against. Nothing here is undefined
// on hostile values: indices are checked, a division of integers by zero is an error, floats
// saturate where integers cannot hold them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_INTERPRET_EVALUATE_H
#define WEFT_COMPILER_INTERPRET_EVALUATE_H

#include "compiler/Interpret/Tensor.h"
#include "mlir/IR/Operation.h"

namespace weft {

/// The results of a weft operation on these operand values (absent optional operands not counted).
/// Fails, with a message in lowercase, where the values are not legal (an index out of range, an
/// integer divided by zero), and for operations that need more than their operands (load, store).
/// Splats stay splats where that is free.
llvm::Expected<llvm::SmallVector<Tensor>> evaluate(mlir::Operation *op,
                                                   llvm::ArrayRef<Tensor> operands);

} // namespace weft

#endif // WEFT_COMPILER_INTERPRET_EVALUATE_H
