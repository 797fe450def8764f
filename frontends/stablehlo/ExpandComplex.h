//===- ExpandComplex.h - complex numbers as two tensors ---------*- C++ -*-===//
//
// weft has no complex numbers. Before a module is walked, each of its values that is a tensor of
// complex numbers becomes two of real ones, both in its shape:
//
//   %2 = complex %0, %1          %0 and %1
//   %3 = reshape %2              reshape %0; reshape %1
//   %4 = multiply %2, %3         four products, a difference and a sum
//
// So rotary embeddings that are written as products of complex numbers become the same operations
// as those that are not.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_EXPANDCOMPLEX_H
#define WEFT_FRONTENDS_STABLEHLO_EXPANDCOMPLEX_H

#include "frontends/common/Problems.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::frontend::stablehlo {

/// Expands the complex numbers of a function. What they are used for that is not supported is added
/// to the problems, after which the function is of no use.
void expandComplex(mlir::func::FuncOp function, Problems &problems);

/// The operations that compute with complex numbers; unordered.
std::vector<std::string> listComplexOperations();

/// Whether a function takes or gives complex numbers.
bool hasComplexSignature(mlir::func::FuncOp function);

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_EXPANDCOMPLEX_H
