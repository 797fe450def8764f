//===- Passes.td - from an imported graph to semantic operations ----------===//
//
// First, where the user asks for it: weft-carry-outputs. Order (buildImportPipeline): weft-raise-views, weft-drop-guards, weft-sink-views, weft-raise-norms, weft-raise-gelu,
// weft-raise-rotary, weft-raise-attention, weft-move-views-to-weights, weft-drop-unused-weights, with canonicalize and cse between. Values
// are kept by every pass, within the rounding of the element type. Names of what is matched stay in fused locations. What has the core of
// something to be raised, but stays in its parts, is told with the reason (remark::missed, of the pass's flag as category).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_PASSES_TD
#define WEFT_PASSES_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def CarryOutputs : Pass<"weft-carry-outputs", "::mlir::ModuleOp"> {
  let summary = "makes outputs of a step the inputs of the next";
  let description = [{
    Each pair `OUTPUT=INPUT` makes a state of the input's name: the input becomes a load of it, the output what is
    stored. The state is zero at first, unless a weight of that name exists, whose value it then has. `P*=Q*` carries
    every output whose name begins with P to the input that is called the same behind Q. An output is known by its
    `weft.path`, too: where it stands in what the model's function returns. Carried inputs and outputs are none of @main
    any more.

    Precondition: as a frontend leaves it. Postcondition: a carried input is no argument of @main, a carried output no
    result; each is a state that @main loads and stores once.

    With `pairs=output_1=cache`,

    ```mlir
    func.func @main(%x: tensor<4xf32> {weft.name = "x"}, %cache: tensor<4xf32> {weft.name = "cache"})
        -> (tensor<4xf32> {weft.name = "output_0"}, tensor<4xf32> {weft.name = "output_1"}) {
      %0 = weft.add %cache, %x : tensor<4xf32>
      return %x, %0 : tensor<4xf32>, tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    weft.weight kind(state) @cache : tensor<4xf32> = dense<0.0> : tensor<4xf32>
    func.func @main(%x: tensor<4xf32> {weft.name = "x"}) -> (tensor<4xf32> {weft.name = "output_0"}) {
      %cache = weft.load @cache : tensor<4xf32>
      %0 = weft.add %cache, %x : tensor<4xf32>
      weft.store @cache, %0 : tensor<4xf32>
      return %x : tensor<4xf32>
    }
    ```
  }];
  let options = [ListOption<"pairs", "pairs", "std::string", "OUTPUT=INPUT each">];
}

def DropGuards : Pass<"weft-drop-guards", "::mlir::func::FuncOp"> {
  let summary = "removes guards against what cannot be";
  let description = [{
    Exporters correct indices that count from the end where none does, and bound values by what bounds all values. A choice
    between 1 and 0 is a truth value as a number.

    Precondition: none. Postcondition: the same values, by no more operations.

    ```mlir
    %0 = weft.iota 1 : tensor<4x8xi64>
    %1 = weft.compare lt %0, %zero : tensor<4x8xi64>
    %2 = weft.add %0, %eight : tensor<4x8xi64>
    %3 = weft.select %1, %2, %0 : tensor<4x8xi1>, tensor<4x8xi64>
    %4 = weft.gather %table, %3 axis 0 : (tensor<8x16xf32>, tensor<4x8xi64>) -> tensor<4x8x16xf32>
    ```
    becomes
    ```mlir
    %0 = weft.iota 1 : tensor<4x8xi64>
    %4 = weft.gather %table, %0 axis 0 : (tensor<8x16xf32>, tensor<4x8xi64>) -> tensor<4x8x16xf32>
    ```
  }];
}

def DropStopGradients : Pass<"weft-drop-stop-gradients", "::mlir::ModuleOp"> {
  let summary = "removes what only differentiation looks at";
  let description = [{
    A value that differentiation holds constant is the same value otherwise. Where no parameter is behind it, it is constant
    anyway. With `all`, for a model that is not trained or is differentiated already, none is left. A choice between a value
    and the same, held constant, becomes the value, under the choice's name.

    Precondition: none. Postcondition: the same values; with `all` no `weft.stop_gradient`, else none but of values that depend
    on a parameter.

    ```mlir
    %0 = weft.load @w : tensor<4xf32>
    %1 = weft.stop_gradient %0 : tensor<4xf32>
    %2 = weft.stop_gradient %x : tensor<4xf32>
    %3 = weft.mul %1, %2 : tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = weft.load @w : tensor<4xf32>
    %1 = weft.stop_gradient %0 : tensor<4xf32>
    %3 = weft.mul %1, %x : tensor<4xf32>
    ```
  }];
  let options = [Option<"all", "all", "bool", "false", "also of values that depend on parameters">];
}

def DropUnusedWeights : Pass<"weft-drop-unused-weights", "::mlir::ModuleOp"> {
  let summary = "removes weights that nothing names";
  let description = [{
    Masks and tables that became attributes are not read any more.

    Precondition: none. Postcondition: every weight is named by an operation.

    ```mlir
    weft.weight kind(constant) @mask : tensor<32x32xi1> = dense_resource<mask> : tensor<32x32xi1>
    weft.weight @w : tensor<4xf32> = #weft.external<"w.bin", 0, 16>
    func.func @main() -> tensor<4xf32> {
      %0 = weft.load @w : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    weft.weight @w : tensor<4xf32> = #weft.external<"w.bin", 0, 16>
    func.func @main() -> tensor<4xf32> {
      %0 = weft.load @w : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def MoveViewsToWeights : Pass<"weft-move-views-to-weights", "::mlir::func::FuncOp"> {
  let summary = "moves splits behind a product onto its weight";
  let description = [{
    A reshape, slice or transpose of the dimensions that a product has from its weight is a view of the weight, which
    costs nothing; rows added or multiplied in between (biases) are viewed alike. What is only cut up is computed once for
    each part instead, through all operations that shards could compute by themselves along the dimension
    (products, lookups, convolutions of channels: by their factor rules), where that makes slices of weights in the end; parts of a
    concatenation, of the operand that they lie in. All parts are moved so, or none, which would be computed twice; of those
    that cut other dimensions, too (a token's columns), what is of weights. So a
    fused query, key and value projection, in whatever order its columns are, becomes three, with heads as a dimension of
    their own, and an expert's two matrices that lie side by side two products.

    Precondition: the canonical form of products, in which a weight is the right operand. Postcondition: the same values;
    the views that moved stand between a load and its product.

    ```mlir
    %w = weft.load @qkv : tensor<64x192xf32>
    %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0]
        : (tensor<4x32x64xf32>, tensor<64x192xf32>) -> tensor<4x32x192xf32>
    %1 = weft.slice %0 starts [0, 0, 64] strides [1, 1, 1] : tensor<4x32x192xf32> to tensor<4x32x64xf32>
    %2 = weft.reshape %1 : tensor<4x32x64xf32> to tensor<4x32x4x16xf32>
    ```
    becomes
    ```mlir
    %w = weft.load @qkv : tensor<64x192xf32>
    %0 = weft.slice %w starts [0, 64] strides [1, 1] : tensor<64x192xf32> to tensor<64x64xf32>
    %1 = weft.reshape %0 : tensor<64x64xf32> to tensor<64x4x16xf32>
    %2 = weft.dot_general %x, %1 batch [] x [] contract [2] x [0]
        : (tensor<4x32x64xf32>, tensor<64x4x16xf32>) -> tensor<4x32x4x16xf32>
    ```
  }];
}

def RaiseAttention : Pass<"weft-raise-attention", "::mlir::ModuleOp"> {
  let summary = "finds attention in its parts";
  let description = [{
    Matches softmax(f(queries · keys)) · values with one or two batch dimensions in any order of dimensions, where f is
    a scale, a soft-cap and any additions and selections; also simplifies attention that a frontend made:
    - scales of queries, keys and scores are multiplied; 1/√d within rounding is exactly that;
    - what is added and so low that scores are lost (-inf, the least finite numbers) is a boolean mask, known tables
      included; known masks that tell positions become `causal` and `window`; other additions are the bias;
    - heads of keys and values that are repeated are read unrepeated; heads that were joined with the batch are a
      dimension of their own again.

    Fully masked rows keep their values: `nan` for -inf, `zero` where not-a-number is replaced by 0, `uniform` for
    finite numbers; several masks with a finite one are kept as biases, because their sums tell rows apart.

    Precondition: softmax is an operation of its own; weft-sink-views has run. Postcondition: the same values, within
    rounding; what was matched and is read by nothing else is gone. May add weights of kind `constant`.

    ```mlir
    %0 = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3]
        : (tensor<4x4x32x16xf32>, tensor<4x4x32x16xf32>) -> tensor<4x4x32x32xf32>
    %1 = weft.mul %0, %quarter : tensor<4x4x32x32xf32>
    %2 = weft.softmax %1 axis 3 : tensor<4x4x32x32xf32>
    %3 = weft.dot_general %2, %v batch [0, 1] x [0, 1] contract [3] x [2]
        : (tensor<4x4x32x32xf32>, tensor<4x4x32x16xf32>) -> tensor<4x4x32x16xf32>
    ```
    becomes
    ```mlir
    %3 = weft.attention %q, %k, %v scale 2.5e-01 masked_rows nan
        : (tensor<4x4x32x16xf32>, tensor<4x4x32x16xf32>, tensor<4x4x32x16xf32>) -> tensor<4x4x32x16xf32>
    ```
  }];
}

def RaiseGelu : Pass<"weft-raise-gelu", "::mlir::func::FuncOp"> {
  let summary = "finds gelu in its parts, by erf or tanh";
  let description = [{
    Matches a product of x, of 1/2 and of 1 + erf(x/√2) or 1 + tanh(√(2/π)·(x + 0.044715·x³)), the factors and the
    polynomial in any order.

    Precondition: canonical form; weft-sink-views has run. Postcondition: the same values, within rounding; what was matched
    and is read by nothing else is gone.

    ```mlir
    %0 = weft.mul %x, %rootHalf : tensor<4x8xf32>
    %1 = weft.erf %0 : tensor<4x8xf32>
    %2 = weft.add %1, %one : tensor<4x8xf32>
    %3 = weft.mul %x, %half : tensor<4x8xf32>
    %4 = weft.mul %3, %2 : tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %4 = weft.gelu erf %x : tensor<4x8xf32>
    ```
  }];
}

def RaiseNorms : Pass<"weft-raise-norms", "::mlir::func::FuncOp"> {
  let summary = "finds rms_norm, layer_norm and softmax in their parts";
  let description = [{
    Parts of norms that other operations read too (the backward pass) stay as they are. Epsilons that a file holds in f32
    are the numbers that were written.

    x/√(mean(x²) + ε), as a quotient or as a product with the reciprocal root, is an rms_norm; that of x - mean(x) is a
    layer_norm; a following product with a row is its scale, a sum with a row the bias. exp(x - max x) divided by its
    sum is a softmax.

    Precondition: canonical form; weft-sink-views has run. Postcondition: the same values, within rounding; what was matched
    and is read by nothing else is gone.

    ```mlir
    %0 = weft.mul %x, %x : tensor<4x8xf32>
    %1 = weft.reduce sum %0 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
    %2 = weft.div %1, %eight : tensor<4xf32>
    %3 = weft.add %2, %epsilon : tensor<4xf32>
    %4 = weft.rsqrt %3 : tensor<4xf32>
    %5 = weft.broadcast %4 dims [0] : tensor<4xf32> to tensor<4x8xf32>
    %6 = weft.mul %x, %5 : tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %6 = weft.rms_norm %x axis 1 epsilon 1.0e-6 : tensor<4x8xf32>
    ```
  }];
}

def RaiseRotary : Pass<"weft-raise-rotary", "::mlir::ModuleOp"> {
  let summary = "finds rotary position embeddings in their parts";
  let description = [{
    Matches x·cos + turned·sin, where `turned` holds of each pair the second element, negated, and the first: pairs of
    elements half a row apart, or side by side, however `turned` is put together of parts and views. The tables surely
    hold every angle twice (computed so, or known). Elements x1·cos - x2·sin and x2·cos + x1·sin that are computed
    apart and joined or stacked (products of complex numbers) are found too. The rotation of the first elements of
    rows is one of the rows. Heads may be several dimensions, or none. May add weights of kind `constant`.

    Precondition: canonical form; weft-sink-views has run. Postcondition: the same values, within rounding; what was matched
    and is read by nothing else is gone.

    ```mlir
    %0 = weft.mul %x, %cos : tensor<4x8x32x16xf32>
    %1 = weft.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
    %2 = weft.slice %x starts [0, 0, 0, 8] strides [1, 1, 1, 1] : tensor<4x8x32x16xf32> to tensor<4x8x32x8xf32>
    %3 = weft.neg %2 : tensor<4x8x32x8xf32>
    %4 = weft.concat %3, %1 axis 3 : (tensor<4x8x32x8xf32>, tensor<4x8x32x8xf32>) -> tensor<4x8x32x16xf32>
    %5 = weft.mul %4, %sin : tensor<4x8x32x16xf32>
    %6 = weft.add %0, %5 : tensor<4x8x32x16xf32>
    ```
    becomes, where `%cos` repeats rows of `concat(%c, %c)` and `%sin` of `concat(%s, %s)`,
    ```mlir
    %6 = weft.rotary %x, %c, %s : tensor<4x8x32x16xf32>, tensor<1x32x8xf32>, tensor<1x32x8xf32>
    ```
  }];
}

def RaiseViews : Pass<"weft-raise-views", "::mlir::ModuleOp"> {
  let summary = "finds slices and reshapes in gathers at known positions, and broadcasts in constants";
  let description = [{
    Gathers by elements or by tuples that take whole slices are plain gathers; repeated positions are looked up once.
    What a gather takes of two known ranges, or a scatter puts at one known position, is joined of slices.
    Exporters that fold constants write out what a broadcast repeated; constants that hold one block many times become
    that block, repeated.

    Precondition: none. Postcondition: the same values; no gather of known, evenly spaced positions is left.

    ```mlir
    %p = weft.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
    %0 = weft.gather %table, %p axis 0 : (tensor<64x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %0 = weft.slice %table starts [0, 0] strides [1, 1] : tensor<64x8xf32> to tensor<4x8xf32>
    ```
  }];
}

def SinkViews : Pass<"weft-sink-views", "::mlir::func::FuncOp"> {
  let summary = "moves reshapes and transposes behind the operations that do not mind them";
  let description = [{
    Exporters flatten batches before a product and restore them behind it, or transpose before or after a scale. Here
    transposes, and reshapes that split nothing, move towards their uses: past elementwise operations, reductions,
    softmax, norms, slices, and as dimension numbers into products. There they meet their inverses and vanish. Operands
    of an elementwise operation that are joined from unlike dimensions are split as all of them are before it. Equal
    broadcasts of all operands are sunk likewise. Views of weights stay where they are, and views that can move to a
    weight do so at once (weft-move-views-to-weights). Free unit dimensions of products are left out of them.

    Precondition: none. Postcondition: the same values; no view is left before an operation that it can pass.

    ```mlir
    %0 = weft.reshape %x : tensor<4x32x64xf32> to tensor<128x64xf32>
    %1 = weft.dot_general %0, %w batch [] x [] contract [1] x [0]
        : (tensor<128x64xf32>, tensor<64x96xf32>) -> tensor<128x96xf32>
    %2 = weft.reshape %1 : tensor<128x96xf32> to tensor<4x32x96xf32>
    ```
    becomes
    ```mlir
    %2 = weft.dot_general %x, %w batch [] x [] contract [2] x [0]
        : (tensor<4x32x64xf32>, tensor<64x96xf32>) -> tensor<4x32x96xf32>
    ```
  }];
}

#endif // WEFT_PASSES_IMPORT_PASSES_TD
