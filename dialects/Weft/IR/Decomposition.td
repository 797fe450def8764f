//===- Decomposition.td - operations written out in simpler ones ----------===//

#ifndef WEFT_DECOMPOSITION_TD
#define WEFT_DECOMPOSITION_TD

include "mlir/IR/OpBase.td"

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An operation that can be written out in simpler ones of the dialect (see Decomposition.h). Whatever has no way of
    its own to compute it, such as generated kernels, computes that.
  }];
  let methods = [
    InterfaceMethod<"Builds the operations it consists of; returns the values of its results.",
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::ImplicitLocOpBuilder &":$builder)>,
    InterfaceMethod<[{
        The dimensions of the first operand, and of the result, that it normalises: each element of the result depends
        on the operand's elements along them alone. None if it does something else.
      }],
      "::llvm::SmallVector<int64_t>", "getNormalisedDims", (ins), [{}], [{ return {}; }]>
  ];
}

#endif // WEFT_DECOMPOSITION_TD
