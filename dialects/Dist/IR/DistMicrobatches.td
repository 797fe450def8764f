//===- DistMicrobatches.td - operations of steps in microbatches ----------===//

#ifndef DIST_MICROBATCHES_TD
#define DIST_MICROBATCHES_TD

include "dialects/Dist/IR/DistBase.td"
include "dialects/Weft/IR/FactorRule.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_AccumulateOp : Op<Dist_Dialect, "accumulate", [Pure, SameOperandsAndResultShape,
                                                        DeclareOpInterfaceMethods<FactorRuleOpInterface, ["getFactorRule"]>]> {
  let summary = "the sum of a value over the microbatches of a step";
  let description = [{
    What the operand is computed from is computed for each microbatch, what the result is used for after the last one. The
    sum may be of a wider type than what is summed. A partial sum over ranks may stay one, and is joined behind the last.

    **Constraints**
    - C1: operand and result have one shape; both are of floats or of integers, the result no narrower.

    Example: `%1 = dist.accumulate %0 : tensor<16x32xbf16> to tensor<16x32xf32>`
  }];
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$input);
  let results = (outs StaticShapeTensorOf<[AnyType]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

#endif // DIST_MICROBATCHES_TD
