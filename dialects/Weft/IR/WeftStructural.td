//===- WeftStructural.td - shape, indexing and reduction operations -------===//

#ifndef WEFT_STRUCTURAL_TD
#define WEFT_STRUCTURAL_TD

include "dialects/Weft/IR/WeftBase.td"

class Weft_InferredOp<string mnemonic, list<Trait> traits = [], list<string> rules = ["getFactorRule"]>
    : Weft_TensorOp<mnemonic, !listconcat([InferTypeOpAdaptor], traits), rules>;

def Weft_BroadcastOp : Weft_TensorOp<"broadcast"> {
  let summary = "repeats a tensor along new or unit dimensions";
  let description = [{
    Operand dimension i becomes result dimension `dims[i]`; result dimensions not named are new.

    **Constraints**
    - C1: `dims` has one entry per operand dimension, strictly increasing, within the result's rank.
    - C2: each operand dimension is 1 or the size of its result dimension.
    - C3: element types agree.

    Example: `%1 = weft.broadcast %0 dims [2] : tensor<768xf32> to tensor<4x128x768xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Weft_ConcatOp : Weft_InferredOp<"concat", [DeclareOpInterfaceMethods<JoinOpInterface>]> {
  let summary = "joins tensors along one dimension";
  let description = [{
    **Constraints**
    - C1: at least one input; all of one element type and rank.
    - C2: 0 ≤ `axis` < rank; other dimensions agree.

    Example: `%2 = weft.concat %0, %1 axis 1 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>`
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_CumsumOp : Weft_TensorOp<"cumsum", [SameOperandsAndResultType]> {
  let summary = "running sums along one dimension";
  let description = [{
    `exclusive` leaves the element itself out; `reverse` runs from the end.

    **Constraints**
    - C1: 0 ≤ `axis` < rank.

    Example: `%1 = weft.cumsum %0 axis 1 : tensor<4x8xi64>`
  }];
  let arguments = (ins Weft_Tensor:$input, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Weft_GatherOp : Weft_InferredOp<"gather", [], ["getFactorRule", "buildLocal"]> {
  let summary = "takes slices of a table along one dimension";
  let description = [{
    The result's shape is `table.shape[:axis] + indices.shape + table.shape[axis+1:]`. A negative index counts from the
    end. An index outside [-extent, extent), or [0, extent) if indices are of an unsigned type, is an error at run
    time, where extent is `extent` if given, else the table's size along `axis`. With `offset` (a shard of a larger
    table, whose rows start there), rows that lie outside this shard give zeros.

    **Constraints**
    - C1: 0 ≤ `axis` < rank of the table.
    - C2: `offset` and `extent` come together.

    Example: `%1 = weft.gather %table, %ids axis 0 : (tensor<512x64xf32>, tensor<4x32xi64>) -> tensor<4x32x64xf32>`
  }];
  let arguments = (ins Weft_Tensor:$table, Weft_IntTensor:$indices, Optional<Weft_IndexScalar>:$offset, I64Attr:$axis,
                       OptionalAttr<I64Attr>:$extent);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $table `,` $indices (`offset` $offset^ `:` type($offset))? `axis` $axis (`extent` $extent^)? attr-dict `:`
    `(` type($table) `,` type($indices) `)` `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$table, "::mlir::Value":$indices, "int64_t":$axis), [{
    build($_builder, $_state, table, indices, ::mlir::Value(), $_builder.getI64IntegerAttr(axis), ::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
}

def Weft_GatherElementsOp : Weft_InferredOp<"gather_elements"> {
  let summary = "takes one element per index along one dimension";
  let description = [{
    `result[i…, j, k…] = input[i…, indices[i…, j, k…], k…]`, the result of the indices' shape. Indices are those of
    `weft.gather`.

    **Constraints**
    - C1: input and indices have one rank, 0 ≤ `axis` < rank; other dimensions of the indices are not larger.

    Example: `%1 = weft.gather_elements %0, %i axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_IntTensor:$indices, I64Attr:$axis);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `axis` $axis attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def Weft_GatherNdOp : Weft_InferredOp<"gather_nd"> {
  let summary = "takes slices by index tuples (ONNX GatherND)";
  let description = [{
    The last dimension of `indices` holds tuples that index the input's dimensions after `batch_dims` shared ones.
    Indices are those of `weft.gather`.

    **Constraints**
    - C1: 0 ≤ `batch_dims` < rank of both; the batch dimensions agree.
    - C2: `batch_dims` + tuple length ≤ rank of the input.

    Example: `%1 = weft.gather_nd %0, %i batch_dims 0 : (tensor<4x8xf32>, tensor<5x1xi64>) -> tensor<5x8xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_IntTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `batch_dims` $batch_dims attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def Weft_IotaOp : Weft_TensorOp<"iota", [], ["getFactorRule", "buildLocal"]> {
  let summary = "positions along one dimension: 0, 1, 2, …";
  let description = [{
    **Constraints**
    - C1: 0 ≤ `dim` < rank.

    Example: `%0 = weft.iota 1 : tensor<4x8xi64>`
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Weft_PadOp : Weft_InferredOp<"pad"> {
  let summary = "adds elements of one value around a tensor";
  let description = [{
    **Constraints**
    - C1: `low` and `high` have one entry per dimension, ≥ 0.
    - C2: `value` is a scalar tensor of the input's element type.

    Example: `%1 = weft.pad %0, %v low [0, 1] high [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x11xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `,` $value `low` $low `high` $high attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def Weft_ReduceOp : Weft_InferredOp<"reduce"> {
  let summary = "joins all elements along some dimensions";
  let description = [{
    The reduced dimensions vanish. `max` and `min` of i1 are "any" and "all".

    **Constraints**
    - C1: `dims` are strictly increasing, within the rank.

    Example: `%1 = weft.reduce sum %0 dims [2] : tensor<4x8x16xf32> -> tensor<4x8xf32>`
  }];
  let arguments = (ins Weft_ReduceKindAttr:$kind, Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "`` $kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Weft_ReduceWindowOp : Weft_InferredOp<"reduce_window"> {
  let summary = "joins the elements under each position of a window (pooling)";
  let description = [{
    In each dimension `input_dilations` - 1 (default 0) elements are put between neighbours and `low` and `high` at the
    ends, all of them the reduction's identity; negative amounts take elements away instead. The window's `window`
    elements, `dilations` apart, move in steps of `strides`. Extents are those of WindowDim (Windows.h).

    **Constraints**
    - C1: all lists have one entry per dimension; `window`, `strides`, dilations ≥ 1.

    Example:
    ```mlir
    %1 = weft.reduce_window max %0 window [1, 1, 3, 3] strides [1, 1, 2, 2] dilations [1, 1, 1, 1] low [0, 0, 1, 1]
        high [0, 0, 1, 1] : tensor<4x64x32x32xf32> -> tensor<4x64x16x16xf32>
    ```
  }];
  let arguments = (ins Weft_ReduceKindAttr:$kind, Weft_Tensor:$input, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, OptionalAttr<DenseI64ArrayAttr>:$input_dilations);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $input `window` $window `strides` $strides `dilations` $dilations `low` $low `high` $high
    (`input_dilations` $input_dilations^)? attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Weft_ReshapeOp : Weft_TensorOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    **Constraints**
    - C1: operand and result have as many elements and one element type.

    Example: `%1 = weft.reshape %0 : tensor<4x8x96xf32> to tensor<4x8x12x8xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Weft_ReverseOp : Weft_TensorOp<"reverse", [SameOperandsAndResultType]> {
  let summary = "the elements in reverse order along some dimensions";
  let description = [{
    **Constraints**
    - C1: `dims` are strictly increasing, within the rank.

    Example: `%1 = weft.reverse %0 dims [1] : tensor<4x8xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Weft_ScatterElementsOp : Weft_TensorOp<"scatter_elements", [DeclareOpInterfaceMethods<UpdateOpInterface>],
                                           ["getFactorRule", "buildLocal"]> {
  let summary = "puts elements at indices along one dimension (ONNX ScatterElements)";
  let description = [{
    `result = input; result[i…, indices[i…, j, k…], k…] ⊕= updates[i…, j, k…]`, ⊕ by `kind`, in the order of j: with
    `set` the last of several wins. Indices are those of `weft.scatter_nd`, along `axis`.

    **Constraints**
    - C1: all have one rank; updates have the indices' shape and the input's element type; the result the input's type.
    - C2: 0 ≤ `axis` < rank.
    - C3: `offset` and `extent` come together.

    Example: `%1 = weft.scatter_elements set %0, %i, %u axis 1 : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins Weft_ScatterKindAttr:$kind, Weft_Tensor:$input, Weft_IntTensor:$indices, Weft_Tensor:$updates,
                       Optional<Weft_IndexScalar>:$offset, I64Attr:$axis, UnitAttr:$drop, OptionalAttr<I64Attr>:$extent);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $input `,` $indices `,` $updates (`offset` $offset^ `:` type($offset))? `axis` $axis (`drop` $drop^)?
    (`extent` $extent^)? attr-dict `:` `(` type($input) `,` type($indices) `,` type($updates) `)` `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::weft::ScatterKind":$kind, "::mlir::Value":$input,
                             "::mlir::Value":$indices, "::mlir::Value":$updates, "int64_t":$axis,
                             CArg<"bool", "false">:$drop), [{
    build($_builder, $_state, type, kind, input, indices, updates, ::mlir::Value(), axis, drop, ::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
}

def Weft_ScatterNdOp : Weft_TensorOp<"scatter_nd", [DeclareOpInterfaceMethods<UpdateOpInterface>],
                                     ["getFactorRule", "buildLocal"]> {
  let summary = "puts slices at index tuples (ONNX ScatterND)";
  let description = [{
    The last dimension of `indices` holds tuples that index the input's first dimensions. Slices are joined in by `kind`
    in the order of their tuples: with `set` the last of several wins. Indices are those of `weft.gather`; but with
    `drop`, none counts from the end, and a slice of which any lies outside [0, extent) is left out. The extent is the
    input's, but for the first index `extent` if given: with `offset` the input is a shard of a larger tensor, which
    starts there, and slices outside this shard are left out.

    **Constraints**
    - C1: tuple length ≤ rank of the input; the result has the input's type.
    - C2: updates' shape = indices.shape[:-1] + input.shape[tuple length:], of the input's element type.
    - C3: `offset` and `extent` come together, with tuples of one index or more.

    Example: `%1 = weft.scatter_nd set %0, %i, %u : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins Weft_ScatterKindAttr:$kind, Weft_Tensor:$input, Weft_IntTensor:$indices, Weft_Tensor:$updates,
                       Optional<Weft_IndexScalar>:$offset, UnitAttr:$drop, OptionalAttr<I64Attr>:$extent);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $input `,` $indices `,` $updates (`offset` $offset^ `:` type($offset))? (`drop` $drop^)?
    (`extent` $extent^)? attr-dict `:` `(` type($input) `,` type($indices) `,` type($updates) `)` `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::weft::ScatterKind":$kind, "::mlir::Value":$input,
                             "::mlir::Value":$indices, "::mlir::Value":$updates, CArg<"bool", "false">:$drop), [{
    build($_builder, $_state, type, kind, input, indices, updates, ::mlir::Value(), drop, ::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
}

def Weft_SliceOp : Weft_TensorOp<"slice"> {
  let summary = "a strided block of a tensor";
  let description = [{
    Takes `result.shape[i]` elements from `starts[i]`, `strides[i]` apart.

    **Constraints**
    - C1: operand and result have one rank and element type; one start ≥ 0 and one stride ≥ 1 per dimension.
    - C2: starts[i] + (result.shape[i] - 1)·strides[i] lies within the input.

    Example: `%1 = weft.slice %0 starts [0, 8] strides [1, 1] : tensor<4x96xf32> to tensor<4x8xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$strides);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `starts` $starts `strides` $strides attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Weft_SortOp : Weft_InferredOp<"sort"> {
  let summary = "the first elements in ascending or descending order along one dimension";
  let description = [{
    `values` are the `count` least elements along `axis` in ascending order (the greatest, in descending order, with
    `descending`), `positions` where they stood. Equal elements keep their order. NaN is greater than every number, -0.0
    and 0.0 are equal. With `count` = the dimension's size this is a sort, with less a top-k. Other tensors follow by
    `weft.gather_elements` with the positions.

    **Constraints**
    - C1: 0 ≤ `axis` < rank.
    - C2: 0 ≤ `count` ≤ the dimension's size < 2³².
    - C3: `values` and `positions` have the input's shape but for `count` along `axis`.

    Example: `%values, %positions = weft.sort %0 axis 1 count 2 descending : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi64>`
  }];
  let arguments = (ins Weft_Tensor:$input, I64Attr:$axis, I64Attr:$count, UnitAttr:$descending);
  let results = (outs Weft_Tensor:$values, StaticShapeTensorOf<[I64]>:$positions);
  let assemblyFormat = [{
    $input `axis` $axis `count` $count (`descending` $descending^)? attr-dict `:` type($input) `->` type($values) `,`
    type($positions)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Weft_TransposeOp : Weft_InferredOp<"transpose"> {
  let summary = "permutes dimensions";
  let description = [{
    Result dimension i is operand dimension `permutation[i]`.

    **Constraints**
    - C1: `permutation` is a permutation of 0 … rank-1.

    Example: `%1 = weft.transpose %0 [0, 2, 1, 3] : tensor<4x32x8x16xf32> -> tensor<4x8x32x16xf32>`
  }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // WEFT_STRUCTURAL_TD
