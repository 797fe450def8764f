//===- WeftElementwise.td - one result element from one of each operand ---===//

#ifndef WEFT_ELEMENTWISE_TD
#define WEFT_ELEMENTWISE_TD

include "dialects/Weft/IR/WeftBase.td"

//===----------------------------------------------------------------------===//
// Unary, alphabetical
//===----------------------------------------------------------------------===//

def Weft_AbsOp : Weft_UnaryOp<"abs", "absolute value", "None", Weft_Tensor>;

def Weft_AcosOp : Weft_UnaryOp<"acos", "arc cosine">;

def Weft_AsinOp : Weft_UnaryOp<"asin", "arc sine">;

def Weft_AtanOp : Weft_UnaryOp<"atan", "arc tangent">;

def Weft_BarrierOp : Weft_UnaryOp<"barrier", "the same value, which no pass may take for the operand,", "Joint", Weft_Tensor> {
  let description = [{
    What is computed from the result is not the same as what is computed from the operand, and so is computed again:
    recomputation stands behind barriers. They vanish where kernels are formed, behind the last pass that merges.

    Example: `%1 = weft.barrier %0 : tensor<4x8xf32>`
  }];
}

def Weft_CbrtOp : Weft_UnaryOp<"cbrt", "cube root">;

def Weft_CeilOp : Weft_UnaryOp<"ceil", "least integer not below">;

def Weft_CosOp : Weft_UnaryOp<"cos", "cosine">;

def Weft_CoshOp : Weft_UnaryOp<"cosh", "hyperbolic cosine">;

def Weft_CountLeadingZerosOp : Weft_UnaryOp<"count_leading_zeros", "number of zero bits above the highest set one", "None", Weft_IntTensor>;

def Weft_ErfOp : Weft_UnaryOp<"erf", "error function">;

def Weft_ExpOp : Weft_UnaryOp<"exp", "natural exponential">;

def Weft_Expm1Op : Weft_UnaryOp<"expm1", "natural exponential less one, exact near zero,">;

def Weft_FloorOp : Weft_UnaryOp<"floor", "greatest integer not above">;

def Weft_IsInfOp : Weft_ElementwiseOp<"is_inf", "None",
    [TypesMatchWith<"result is of i1", "input", "result", "::weft::withElementType($_self, ::weft::boolType($_self))">]> {
  let summary = "whether an element is infinite";
  let description = "Example: `%1 = weft.is_inf %0 : tensor<4x8xf32>`, of type `tensor<4x8xi1>`.";
  let arguments = (ins Weft_FloatTensor:$input);
  let results = (outs Weft_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{
    build($_builder, $_state, ::weft::withElementType(input.getType(), $_builder.getI1Type()), input);
  }]>];
}

def Weft_IsNanOp : Weft_ElementwiseOp<"is_nan", "None",
    [TypesMatchWith<"result is of i1", "input", "result", "::weft::withElementType($_self, ::weft::boolType($_self))">]> {
  let summary = "whether an element is not a number";
  let description = "Example: `%1 = weft.is_nan %0 : tensor<4x8xf32>`, of type `tensor<4x8xi1>`.";
  let arguments = (ins Weft_FloatTensor:$input);
  let results = (outs Weft_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{
    build($_builder, $_state, ::weft::withElementType(input.getType(), $_builder.getI1Type()), input);
  }]>];
}

def Weft_LogOp : Weft_UnaryOp<"log", "natural logarithm">;

def Weft_Log1pOp : Weft_UnaryOp<"log1p", "natural logarithm of one plus">;

def Weft_NegOp : Weft_UnaryOp<"neg", "negation", "Joint", Weft_Tensor> {
  let hasFolder = 1;
}

def Weft_NotOp : Weft_UnaryOp<"not", "bitwise complement (logical for i1)", "None", Weft_IntTensor> {
  let hasFolder = 1;
}

def Weft_PopcountOp : Weft_UnaryOp<"popcount", "number of set bits", "None", Weft_IntTensor>;

def Weft_ReciprocalOp : Weft_UnaryOp<"reciprocal", "one divided by"> {
  let hasCanonicalizer = 1;
}

def Weft_RoundOp : Weft_UnaryOp<"round", "nearest integer, ties to even,">;

def Weft_RsqrtOp : Weft_UnaryOp<"rsqrt", "reciprocal square root">;

def Weft_SigmoidOp : Weft_UnaryOp<"sigmoid", "logistic sigmoid 1 / (1 + exp(-x))">;

def Weft_SignOp : Weft_UnaryOp<"sign", "sign (-1, 0 or 1)", "None", Weft_Tensor>;

def Weft_SinOp : Weft_UnaryOp<"sin", "sine">;

def Weft_SinhOp : Weft_UnaryOp<"sinh", "hyperbolic sine">;

def Weft_SqrtOp : Weft_UnaryOp<"sqrt", "square root">;

def Weft_StopGradientOp : Weft_UnaryOp<"stop_gradient", "the same value, held constant by differentiation,", "Joint", Weft_Tensor>;

def Weft_TanOp : Weft_UnaryOp<"tan", "tangent">;

def Weft_TanhOp : Weft_UnaryOp<"tanh", "hyperbolic tangent">;

//===----------------------------------------------------------------------===//
// Binary, alphabetical
//===----------------------------------------------------------------------===//

def Weft_AddOp : Weft_BinaryOp<"add", "sum", "Joint", Weft_Tensor, [Commutative]> {
  let hasFolder = 1;
}

def Weft_AndOp : Weft_BinaryOp<"and", "bitwise and", "None", Weft_IntTensor, [Commutative]> {
  let hasFolder = 1;
}

def Weft_Atan2Op : Weft_BinaryOp<"atan2", "angle of the point (rhs, lhs)", "None", Weft_FloatTensor>;

def Weft_DivOp : Weft_BinaryOp<"div", "quotient (integers: rounded towards zero, all bits set where the divisor is 0)", "First", Weft_Tensor> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Weft_MaxOp : Weft_BinaryOp<"max", "larger of two (NaN if either is)", "None", Weft_Tensor, [Commutative]>;

def Weft_MinOp : Weft_BinaryOp<"min", "smaller of two (NaN if either is)", "None", Weft_Tensor, [Commutative]>;

def Weft_MulOp : Weft_BinaryOp<"mul", "product", "Each", Weft_Tensor, [Commutative]> {
  let hasFolder = 1;
}

def Weft_OrOp : Weft_BinaryOp<"or", "bitwise or", "None", Weft_IntTensor, [Commutative]> {
  let hasFolder = 1;
}

def Weft_PowOp : Weft_BinaryOp<"pow", "power", "None", Weft_Tensor> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Weft_RandomBitsOp : Weft_BinaryOp<"random_bits", "64 random bits by a counter (lhs) and a key (rhs)", "None", Weft_IntTensor> {
  let description = [{
    Threefry-2x32 with 20 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3): the low and high halves
    of counter, key and result are the first and second words. Counters made of positions in the whole tensor
    (`weft.iota`) give the same numbers on any mesh.

    Example: `%2 = weft.random_bits %counter, %key : tensor<4x8xui64>`
  }];
  let arguments = (ins StaticShapeTensorOf<[UI64]>:$counter, StaticShapeTensorOf<[UI64]>:$key);
  let results = (outs StaticShapeTensorOf<[UI64]>:$result);
  let assemblyFormat = "$counter `,` $key attr-dict `:` type($result)";
}

def Weft_RemOp : Weft_BinaryOp<"rem", "remainder with the dividend's sign (integers: the dividend where the divisor is 0)", "None", Weft_Tensor>;

def Weft_ShiftLeftOp : Weft_BinaryOp<"shift_left", "bits moved up by as many places as rhs says (0 from the width on)", "None", Weft_IntTensor>;

def Weft_ShiftRightOp : Weft_BinaryOp<"shift_right", "bits moved down by as many places as rhs says", "None", Weft_IntTensor> {
  let description = [{
    Signed integers keep their sign, whose copies move in; into unsigned ones zeros do. From the width on, these are all
    that is left. Negative amounts count as such large ones.

    Example: `%2 = weft.shift_right %0, %1 : tensor<4x8xui32>`
  }];
}

def Weft_SubOp : Weft_BinaryOp<"sub", "difference", "Joint", Weft_Tensor> {
  let hasFolder = 1;
}

def Weft_XorOp : Weft_BinaryOp<"xor", "bitwise exclusive or", "None", Weft_IntTensor, [Commutative]>;

//===----------------------------------------------------------------------===//
// Others, alphabetical
//===----------------------------------------------------------------------===//

def Weft_CastOp : Weft_ElementwiseOp<"cast", "None"> {
  let summary = "conversion to another element type";
  let description = [{
    Float to integer truncates; anything to i1 is `!= 0`; i1 to a number is 0 or 1.

    Example: `%1 = weft.cast %0 : tensor<4xi64> to tensor<4xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasFolder = 1;
}

def Weft_CompareOp : Weft_ElementwiseOp<"compare", "None", [SameTypeOperands,
    TypesMatchWith<"result is of i1", "lhs", "result", "::weft::withElementType($_self, ::weft::boolType($_self))">]> {
  let summary = "comparison, giving i1";
  let description = [{
    Floats compare ordered but for `ne` (NaN is unequal to everything). Unsigned types compare unsigned.

    Example: `%2 = weft.compare lt %0, %1 : tensor<4xf32>`, of type `tensor<4xi1>`.
  }];
  let arguments = (ins Weft_CompareDirectionAttr:$direction, Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_BoolTensor:$result);
  let assemblyFormat = "`` $direction $lhs `,` $rhs attr-dict `:` type($lhs)";
  let builders = [OpBuilder<(ins "::weft::CompareDirection":$direction, "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{
    build($_builder, $_state, ::weft::withElementType(lhs.getType(), $_builder.getI1Type()), direction, lhs, rhs);
  }]>];
}

def Weft_GeluOp : Weft_UnaryOp<"gelu", "Gaussian error linear unit"> {
  let description = [{
    `erf`: x/2 · (1 + erf(x/√2)). `tanh`: x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))).

    Example: `%1 = weft.gelu tanh %0 : tensor<4x8xf32>`
  }];
  let arguments = (ins Weft_FloatTensor:$input, DefaultValuedAttr<Weft_GeluFormAttr, "::weft::GeluForm::Erf">:$form);
  let assemblyFormat = "`` $form $input attr-dict `:` type($result)";
}

def Weft_SelectOp : Weft_ElementwiseOp<"select", "None", [AllTypesMatch<["onTrue", "onFalse", "result"]>]> {
  let summary = "one of two values, by a condition";
  let description = "Example: `%3 = weft.select %c, %0, %1 : tensor<4x8xi1>, tensor<4x8xf32>`";
  let arguments = (ins Weft_BoolTensor:$condition, Weft_Tensor:$onTrue, Weft_Tensor:$onFalse);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // WEFT_ELEMENTWISE_TD
