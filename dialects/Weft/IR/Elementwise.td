//===- Elementwise.td - what an elementwise operation computes ------------===//

#ifndef WEFT_ELEMENTWISE_INTERFACE_TD
#define WEFT_ELEMENTWISE_INTERFACE_TD

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An operation whose result's elements are each computed from one element of every operand. What is computed is said
    here, once: generated kernels, what an element costs, and what fuses are derived from it (see Elementwise.h). The
    interpreter alone has a definition of its own, to check this one against.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the computation of one element, or of a vector of them, from `operands`: scalars or vectors of the types
        in which the operands' elements are computed (getComputedType). Returns a value of the type in which the
        result's elements are.
      }],
      "::mlir::Value", "buildArithmetic",
      (ins "::weft::ArithmeticBuilder &":$builder, "::mlir::ValueRange":$operands)>
  ];
}

#endif // WEFT_ELEMENTWISE_INTERFACE_TD
