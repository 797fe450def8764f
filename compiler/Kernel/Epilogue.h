//===- Epilogue.h - kernels that follow a library's call --------*- C++ -*-===//
//
// What is computed of a library's result element by element is best computed while a piece of it
// is still in a core's cache:
//
//   conv             writes a few rows of an image        into the memory of the kernel's result
//   kernel, tiles    add the bias and cut off below zero  over these rows, where they lie
//
// instead of writing the whole result to memory, and reading it again. So the kernel takes the
// result's memory (exec.in_place), and its tiles cover that memory one after the other. Nothing is
// known of which operations it consists of: only what it reads.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_EPILOGUE_H
#define WEFT_COMPILER_KERNEL_EPILOGUE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace weft {

/// On a call of a kernel: the number of the operand that a library's call makes, which the kernel
/// follows. Nothing else reads that operand, and it is made right before.
inline constexpr llvm::StringLiteral epilogueAttrName = "exec.epilogue";

/// Elements of a kernel's result that its tiles cover, in row-major order: `tile` each, but for the
/// last one in each `row` elements, which covers what is left of them.
struct ResultTiles {
  int64_t tile = 0, row = 0;
};

/// The tiles of a kernel that may follow what makes `argument`: its one result has the argument's
/// element type and fills the argument's memory, and an element of it needs of the argument only
/// the element in its own place. None where that does not hold, or the kernel makes checks.
std::optional<ResultTiles> getEpilogueTiles(mlir::func::FuncOp kernel, unsigned argument);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_EPILOGUE_H
