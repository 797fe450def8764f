//===- ArithmeticLibrary.h - what kernels compute with ----------*- C++ -*-===//
//
// Lowers the arithmetic that elementwise operations build, on scalars, to LLVM bitcode: one
// function an operation and element type, which the compiler inlines into every kernel that calls
// it. Elementary functions that a library of ours has (KernelMath.cpp) become calls of it: math.exp
// of f32 one of weft_exp_f32. Products and sums within an operation are fused multiply-adds.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_ARITHMETICLIBRARY_H
#define WEFT_COMPILER_KERNEL_ARITHMETICLIBRARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

namespace weft::kernel {

/// Bitcode of the functions (Arithmetic.h) that these kernels need: those of their elementwise
/// operations, and joins and casts of all types. `isLibraryFunction` tells which elementary
/// functions are to be called.
llvm::Expected<std::string>
compileArithmetic(llvm::ArrayRef<mlir::func::FuncOp> kernels,
                  llvm::function_ref<bool(llvm::StringRef)> isLibraryFunction);

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_ARITHMETICLIBRARY_H
