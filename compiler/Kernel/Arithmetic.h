//===- Arithmetic.h - functions of one element ------------------*- C++ -*-===//
//
// What kernels know of elementwise operations: the name of a function that computes one element,
// and what it costs. Both come from the arithmetic that the operation builds
// (dialects/Weft/IR/Elementwise.h); ArithmeticLibrary.h makes the functions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_ARITHMETIC_H
#define WEFT_COMPILER_KERNEL_ARITHMETIC_H

#include "dialects/Support/DType.h"
#include "dialects/Weft/IR/WeftDialect.h"

namespace weft {

/// The cost of one element: so many additions take about as long; 1 at least.
int64_t getArithmeticCost(ElementwiseOpInterface op);

namespace kernel {

/// The function that computes an element of the operation's result, the same for equal operations
/// on equal element types: "weft_add(f32,f32)f32".
std::string getFunctionName(ElementwiseOpInterface op);
/// The function of a cast.
std::string getCastName(DType from, DType to);
/// The function that joins two elements. With `anyOrder`, of a sum that may be reordered.
std::string getJoinName(ReduceKind kind, DType type, bool anyOrder);

} // namespace kernel
} // namespace weft

#endif // WEFT_COMPILER_KERNEL_ARITHMETIC_H
