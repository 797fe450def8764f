//===- WeftSemantic.td - products, attention, normalisation ---------------===//

#ifndef WEFT_SEMANTIC_TD
#define WEFT_SEMANTIC_TD

include "dialects/Weft/IR/WeftBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Weft_AttentionOp : Weft_TensorOp<"attention", [AttrSizedOperandSegments,
                                                   DeclareOpInterfaceMethods<DecomposableOpInterface, ["decompose"]>],
                                     ["getFactorRule", "buildLocal"]> {
  let summary = "scaled dot-product attention";
  let description = [{
    Query [b, h, s, d], key [b, g, t, d], value [b, g, t, e], result [b, h, s, e]; h = g·r, and query head q uses
    key/value head q / r. The scores are

        score(i, j) = cap(scale · Σ_d query·key) + bias,     cap(x) = softcap · tanh(x / softcap) if `softcap` is given

    and the result softmax over j of the scores, times value. Key j is visible to query i when `mask` allows it and,
    with p = i + `query_offset`: `causal` j ≤ p; `window` p - j < window and, if not causal, j - p < window. A row that
    sees no key gives what `masked_rows` says; `zero` says it too of a row whose scores are all -inf by the bias. `lse` is the logarithm of the sum of exponentials of each row's
    visible scores, [b, h, s]. Mask (i1, true = visible) and bias broadcast over dimensions of size 1.

    **Constraints**
    - C1: query, key, value have rank 4 with the shapes above, h a multiple of g.
    - C2: mask and bias have rank 4, each dimension 1 or that of [b, h, s, t].
    - C3: the result is [b, h, s, e] of the query's element type; `lse` is [b, h, s].
    - C4: `window` ≥ 1 and `softcap` > 0 where given; scale is finite.

    Example:
    ```mlir
    %o = weft.attention %q, %k, %v scale 0.125 causal masked_rows nan
        : (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>) -> tensor<4x8x32x64xf32>
    ```
  }];
  let arguments = (ins Weft_FloatTensor:$query, Weft_FloatTensor:$key, Weft_FloatTensor:$value,
                       Optional<Weft_BoolTensor>:$mask, Optional<Weft_FloatTensor>:$bias,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<I64Attr, "0">:$query_offset,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$softcap,
                       DefaultValuedAttr<Weft_MaskedRowsAttr, "::weft::MaskedRows::Nan">:$masked_rows);
  let results = (outs Weft_FloatTensor:$result, Optional<Weft_FloatTensor>:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`bias` $bias^)? `scale` $scale (`causal` $causal^)?
    (`query_offset` $query_offset^)? (`window` $window^)? (`softcap` $softcap^)? `masked_rows` `` $masked_rows
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Weft_AttentionBackwardOp : Weft_TensorOp<"attention_backward", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<DecomposableOpInterface, ["decompose"]>], ["getFactorRule", "buildLocal"]> {
  let summary = "gradients of attention's query, key and value";
  let description = [{
    `result`, `lse` and the attributes are those of the `weft.attention` whose result has the gradient `gradient`. The
    weights are computed again from the logarithms of their sums; of the scores of several heads only so many are held
    at once as the target has room for. A bias is a constant here: attention whose bias has a gradient is written out
    before it is differentiated.

    **Constraints**
    - C1: query, key, value, mask and bias are as for `weft.attention`; `result` and `gradient` have its result's type,
      `lse` that of its second.
    - C2: the results have the types of query, key and value.

    Example:
    ```mlir
    %dq, %dk, %dv = weft.attention_backward %q, %k, %v result %o lse %l gradient %g scale 0.125 causal masked_rows nan
        : (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32xf32>, tensor<4x8x32x64xf32>)
        -> (tensor<4x8x32x64xf32>, tensor<4x2x32x64xf32>, tensor<4x2x32x64xf32>)
    ```
  }];
  let arguments = (ins Weft_FloatTensor:$query, Weft_FloatTensor:$key, Weft_FloatTensor:$value,
                       Optional<Weft_BoolTensor>:$mask, Optional<Weft_FloatTensor>:$bias, Weft_FloatTensor:$result,
                       Weft_FloatTensor:$lse, Weft_FloatTensor:$gradient,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<I64Attr, "0">:$query_offset,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$softcap,
                       DefaultValuedAttr<Weft_MaskedRowsAttr, "::weft::MaskedRows::Nan">:$masked_rows);
  let results = (outs Weft_FloatTensor:$query_gradient, Weft_FloatTensor:$key_gradient,
                      Weft_FloatTensor:$value_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`bias` $bias^)? `result` $result `lse` $lse `gradient` $gradient
    `scale` $scale (`causal` $causal^)? (`query_offset` $query_offset^)? (`window` $window^)? (`softcap` $softcap^)?
    `masked_rows` `` $masked_rows attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Weft_ConvOp : Weft_TensorOp<"conv", [], ["getFactorRule", "buildLocal"]> {
  let summary = "convolution over any number of spatial dimensions";
  let description = [{
    Input [n, c, spatial…], kernel [o, c/groups, window…], result [n, o, spatial'…]. In each spatial dimension
    `input_dilations` - 1 (default 0) zeros are put between neighbours and `low` and `high` at the ends; negative amounts
    take elements away instead. Then spatial' = (spatial - dilation·(window-1) - 1) / stride + 1. With input dilations
    this is the transposed convolution of these strides.

    **Constraints**
    - C1: ranks agree and are ≥ 3; all lists have one entry per spatial dimension, strides and dilations ≥ 1.
    - C2: c and o are multiples of `groups`; kernel and result have the shapes above and the input's element type.

    Example:
    ```mlir
    %y = weft.conv %x, %k strides [16, 16] low [0, 0] high [0, 0] dilations [1, 1] groups 1
        : (tensor<4x3x32x32xf32>, tensor<64x3x16x16xf32>) -> tensor<4x64x2x2xf32>
    ```
  }];
  let arguments = (ins Weft_FloatTensor:$input, Weft_FloatTensor:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       OptionalAttr<DenseI64ArrayAttr>:$input_dilations);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $kernel `strides` $strides `low` $low `high` $high `dilations` $dilations
    (`input_dilations` $input_dilations^)? `groups` $groups attr-dict `:` functional-type(operands, $result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$input, "::mlir::Value":$kernel,
                             "::llvm::ArrayRef<int64_t>":$strides, "::llvm::ArrayRef<int64_t>":$low,
                             "::llvm::ArrayRef<int64_t>":$high, "::llvm::ArrayRef<int64_t>":$dilations,
                             "int64_t":$groups), [{
    build($_builder, $_state, type, input, kernel, strides, low, high, dilations, groups, ::mlir::DenseI64ArrayAttr());
  }]>];
  let hasVerifier = 1;
}

def Weft_ConvKernelGradientOp : Weft_TensorOp<"conv_kernel_gradient", [], ["getFactorRule", "buildLocal"]> {
  let summary = "gradient of a convolution's kernel";
  let description = [{
    Of the `weft.conv` of `input` with these attributes, whose result has the gradient `gradient`: each element of the
    kernel is the sum, over the batch and all positions, of the gradient there times the input under that element.

    **Constraints**
    - C1: there is such a convolution: input, gradient as its result and the result as its kernel fulfil C1 and C2 of
      `weft.conv`.

    Example:
    ```mlir
    %dk = weft.conv_kernel_gradient %x, %g strides [2, 2] low [1, 1] high [1, 1] dilations [1, 1] groups 1
        : (tensor<4x3x32x32xf32>, tensor<4x64x16x16xf32>) -> tensor<64x3x3x3xf32>
    ```
  }];
  let arguments = (ins Weft_FloatTensor:$input, Weft_FloatTensor:$gradient, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       OptionalAttr<DenseI64ArrayAttr>:$input_dilations);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $gradient `strides` $strides `low` $low `high` $high `dilations` $dilations
    (`input_dilations` $input_dilations^)? `groups` $groups attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def Weft_DotGeneralOp : Weft_TensorOp<"dot_general", [InferTypeOpAdaptor]> {
  let summary = "product of two tensors, contracted over some dimensions";
  let description = [{
    Result dimensions: the batch dimensions, then the left operand's others, then the right operand's others, each in
    their operand's order.

    **Constraints**
    - C1: `lhs_batch` and `rhs_batch` are as long and of equal sizes, likewise `lhs_contract` and `rhs_contract`;
      all are within rank and distinct.
    - C2: element types agree.

    Example:
    ```mlir
    %y = weft.dot_general %x, %w batch [] x [] contract [2] x [0]
        : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $lhs_batch `x` $rhs_batch `contract` $lhs_contract `x` $rhs_contract attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

class Weft_NormOp<string mnemonic, list<Trait> traits = []>
    : Weft_TensorOp<mnemonic, !listconcat([AllTypesMatch<["input", "result"]>,
        DeclareOpInterfaceMethods<DecomposableOpInterface, ["decompose", "getNormalisedDims"]>], traits)>;

def Weft_LayerNormOp : Weft_NormOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "normalisation of the last dimensions to mean 0 and variance 1";
  let description = [{
    y = (x - mean) / √(variance + epsilon) · scale + bias, mean and variance over dimensions `axis` … rank-1.

    **Constraints**
    - C1: 0 ≤ `axis` < rank.
    - C2: scale and bias, where given, have the shape of the normalised dimensions and the input's element type.

    Example: `%y = weft.layer_norm %x scale %s bias %b axis 2 epsilon 1.0e-5 : tensor<4x32x64xf32>`
  }];
  let arguments = (ins Weft_FloatTensor:$input, Optional<Weft_FloatTensor>:$scale, Optional<Weft_FloatTensor>:$bias,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`scale` $scale^ `:` type($scale))? (`bias` $bias^ `:` type($bias))? `axis` $axis `epsilon` $epsilon
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Weft_MapOp : Weft_TensorOp<"map", [DeclareOpInterfaceMethods<DecomposableOpInterface, ["decompose"]>,
                                       DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function of scalars, applied to each element";
  let description = [{
    Each element of the results is what `function` makes of that element of the operands, and of operands that are
    scalars. Where the same long computation is done to many tensors, as an optimizer's is, it is written once, and to
    whatever looks at the module each of them is one operation.

    **Constraints**
    - C1: there is a result; results have one shape, and each operand has that or is a scalar.
    - C2: `function` names a private function of scalars, of the operands' and results' element types.
    - C3: it consists of elementwise operations and constants.

    Example:
    ```mlir
    func.func private @descend(%x: tensor<f32>, %gradient: tensor<f32>, %rate: tensor<f32>) -> tensor<f32> {
      %0 = weft.mul %gradient, %rate : tensor<f32>
      %1 = weft.sub %x, %0 : tensor<f32>
      return %1 : tensor<f32>
    }
    ```
    and `%y = weft.map @descend(%x, %g, %r) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, Variadic<Weft_Tensor>:$inputs);
  let results = (outs Variadic<Weft_Tensor>:$outputs);
  let assemblyFormat = "$function `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The function of scalars. Null where the module has none of that name.
    ::mlir::func::FuncOp lookupFunction();
  }];
}

def Weft_RmsNormOp : Weft_NormOp<"rms_norm"> {
  let summary = "normalisation of the last dimensions to root mean square 1";
  let description = [{
    y = x / √(mean(x²) + epsilon) · scale, the mean over dimensions `axis` … rank-1.

    **Constraints**
    - C1: 0 ≤ `axis` < rank.
    - C2: scale, where given, has the shape of the normalised dimensions and the input's element type.

    Example: `%y = weft.rms_norm %x scale %s : tensor<64xf32> axis 2 epsilon 1.0e-6 : tensor<4x32x64xf32>`
  }];
  let arguments = (ins Weft_FloatTensor:$input, Optional<Weft_FloatTensor>:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`scale` $scale^ `:` type($scale))? `axis` $axis `epsilon` $epsilon attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Weft_RotaryOp : Weft_TensorOp<"rotary", [AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<DecomposableOpInterface, ["decompose"]>]> {
  let summary = "rotary position embedding";
  let description = [{
    Input [b, h, s, d]; cos and sin [b or 1, s, r/2] with r ≤ d even. The first r elements of the last dimension form
    pairs (x, y): element i and i + r/2, or with `interleaved` 2i and 2i+1; each pair becomes
    (x·cos - y·sin, y·cos + x·sin). Elements from r on pass unchanged.

    **Constraints**
    - C1: the input has rank 4; cos and sin are of one type, of rank 3 and the input's element type, their first dimension
      1 or b, the second s.
    - C2: twice the last dimension of cos is at most d.

    Example:
    `%y = weft.rotary %x, %cos, %sin : tensor<4x8x32x16xf32>, tensor<1x32x8xf32>`
  }];
  let arguments = (ins Weft_FloatTensor:$input, Weft_FloatTensor:$cos, Weft_FloatTensor:$sin, UnitAttr:$interleaved);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $cos `,` $sin (`interleaved` $interleaved^)? attr-dict `:` type($input) `,` type($cos) `,` type($sin)
  }];
  let hasVerifier = 1;
}

def Weft_SoftmaxOp : Weft_TensorOp<"softmax", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DecomposableOpInterface, ["decompose", "getNormalisedDims"]>]> {
  let summary = "exponentials that sum to one along a dimension";
  let description = [{
    exp(x - max x) / Σ exp(x - max x). A row of -inf alone gives NaN.

    **Constraints**
    - C1: 0 ≤ `axis` < rank.

    Example: `%y = weft.softmax %x axis 3 : tensor<4x8x32x32xf32>`
  }];
  let arguments = (ins Weft_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // WEFT_SEMANTIC_TD
