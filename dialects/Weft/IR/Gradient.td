//===- Gradient.td - how gradients flow through an operation --------------===//

#ifndef WEFT_GRADIENT_TD
#define WEFT_GRADIENT_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An operation that states its vector-Jacobian product: the gradients of its operands, from those of its results (see
    Gradient.h). Reverse-mode differentiation needs nothing else of it.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the gradients of the operands that are wanted. An operand that is given none has a gradient of zero.
        Fails where the operation has no gradient; whoever asked tells the user.
      }],
      "::llvm::LogicalResult", "buildGradients", (ins "::weft::GradientBuilder &":$builder)>
  ];
}

#endif // WEFT_GRADIENT_TD
