//===- DistOps.td - operations of the dist dialect ------------------------===//

#ifndef DIST_OPS_TD
#define DIST_OPS_TD

include "dialects/Dist/IR/DistBase.td"
include "dialects/Weft/IR/FactorRule.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def Dist_Tensor : StaticShapeTensorOf<[AnyType]>;
def Dist_Axes : TypedArrayAttrBase<Dist_AxisRefAttr, "mesh axes, major to minor">;

def Dist_MeshOp : Dist_Op<"mesh", [Symbol]> {
  let summary = "a named grid of devices";
  let description = [{
    A mesh of n devices stands on the n devices (ranks) from `first_device` on. Another mesh stands on others, or, with
    the same axes, on the same: what a pipeline's schedule has several stages of. Within the mesh devices are numbered from 0, row-major over the axes; `device_order`, where given, lists the device of each
    position.

    **Constraints**
    - C1: axis names are unique and sizes ≥ 1.
    - C2: `device_order` is a permutation of 0 … number of devices - 1.
    - C3: `first_device` ≥ 0.

    Example, two groups of devices side by side:
    ```mlir
    dist.mesh @mesh0 <["data"=2, "model"=4]>
    dist.mesh @mesh1 <["model"=4], first_device = 8>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<Dist_MeshAxisAttr, "mesh axes">:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$device_order,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$first_device);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumDevices();
    /// Whether another one is the same grid of the same devices.
    bool hasSameDevices(MeshOp other);
    /// The size of the axis of that name; 0 where the mesh has none.
    int64_t getAxisSize(::llvm::StringRef name);
    /// The number of shards that an axis or sub-axis (that a list of them) makes. The axes must be the mesh's.
    int64_t getSize(AxisRefAttr axis);
    int64_t getSize(::llvm::ArrayRef<AxisRefAttr> axes);
    int64_t getSize(::mlir::ArrayAttr axes);
    /// The coordinate of a device along an axis or sub-axis; along a list of them, the first major.
    int64_t getCoordinate(int64_t device, AxisRefAttr axis);
    int64_t getCoordinate(int64_t device, ::llvm::ArrayRef<AxisRefAttr> axes);
    /// The groups of devices that differ only along `axes`, each in the order of coordinates along them, first major.
    ::llvm::SmallVector<::llvm::SmallVector<int64_t>> getGroups(::llvm::ArrayRef<AxisRefAttr> axes);
  }];
}

class Dist_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Dist_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)> {
  let hasFolder = 1;
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather"> {
  let summary = "joins the blocks of a group along one dimension";
  let description = [{
    Every rank gets all blocks of its group (ranks that differ only along `axes`), in the order of their coordinates,
    first axis major.

    **Constraints**
    - C1: the mesh exists, and `axes` are distinct axes of it.
    - C2: 0 ≤ `dim` < rank; the result's `dim` is the operand's times the product of `axes`; all else is equal.

    Example: `%1 = dist.all_gather %0 dim 1 axes ["model"] on @mesh : tensor<4x16xf32> -> tensor<4x64xf32>`
  }];
  let arguments = (ins Dist_Tensor:$input, I64Attr:$dim, Dist_Axes:$axes, FlatSymbolRefAttr:$mesh);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `axes` custom<Axes>($axes) `on` $mesh attr-dict `:` type($input) `->` type($result)";
  let hasCanonicalizer = 1;
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "joins partial values of a group, element by element";
  let description = [{
    **Constraints**
    - C1: the mesh exists, and `axes` are distinct axes of it.

    Example: `%1 = dist.all_reduce sum %0 axes ["model"] on @mesh : tensor<4x32x64xf32>`
  }];
  let arguments = (ins Dist_ReduceKindAttr:$reduction, Dist_Tensor:$input, Dist_Axes:$axes,
                       FlatSymbolRefAttr:$mesh);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "`` $reduction $input `axes` custom<Axes>($axes) `on` $mesh attr-dict `:` type($result)";
  let hasCanonicalizer = 1;
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all"> {
  let summary = "moves a split from one dimension to another";
  let description = [{
    Splits the operand's `split_dim` into one block a rank of the group, exchanges them, and joins the received
    blocks along `concat_dim`.

    **Constraints**
    - C1: the mesh exists, and `axes` are distinct axes of it.
    - C2: `split_dim` ≠ `concat_dim`, both within the rank; the result's `split_dim` is the operand's divided by the product of `axes`,
      its `concat_dim` multiplied by it; all else is equal.

    Example: `%1 = dist.all_to_all %0 split 1 concat 0 axes ["x"] on @mesh : tensor<2x8xf32> -> tensor<4x4xf32>`
  }];
  let arguments = (ins Dist_Tensor:$input, I64Attr:$split_dim, I64Attr:$concat_dim, Dist_Axes:$axes,
                       FlatSymbolRefAttr:$mesh);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    $input `split` $split_dim `concat` $concat_dim `axes` custom<Axes>($axes) `on` $mesh attr-dict `:` type($input) `->` type($result)
  }];
}

def Dist_CrossMeshAllReduceOp : Dist_Op<"cross_mesh_all_reduce",
                                        [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "joins values of several meshes, element by element, for each of them";
  let description = [{
    Each mesh holds a whole value of one type, in a sharding of its own there (a partial one is reduced within its mesh
    first), and gets the result. Values are joined in the order in which they stand, whichever mesh does it: all results
    are equal bit for bit. Global norms, gradients of tied weights and copies of a stage are this.

    It stands in @main of a model in parts, between their calls: operands are what parts on their meshes make, results
    what parts on their meshes read, or @main returns. Before the parts are partitioned it becomes transfers and
    additions in parts of their own (`--weft-expand-cross-mesh-reductions`).

    **Constraints**
    - C1: one operand and one result for each of `meshes`, of which there is at least one; all are of one type.
    - C2: `meshes` are the names of unlike meshes.
    - C3: an operand is made on its mesh, by a part (a call of a function with `dist.mesh`) or another such reduction;
      parts that read a result are on its mesh.

    Example, of two stages that use one table:
    ```mlir
    %g:2 = dist.cross_mesh_all_reduce sum %first on @mesh0, %last on @mesh1 : tensor<512x64xf32>
    ```
  }];
  let arguments = (ins Dist_ReduceKindAttr:$reduction, Variadic<Dist_Tensor>:$inputs,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "names of meshes">:$meshes);
  let results = (outs Variadic<Dist_Tensor>:$outputs);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::FlatSymbolRefAttr getMesh(unsigned number);
    ::mlir::RankedTensorType getType();
  }];
}

def Dist_LoadShardOp : Dist_Op<"load_shard", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "this device's block of a view of a weight";
  let description = [{
    The view is a strided look at the whole weight, in elements: view[i, j, …] is the weight's element
    start + i·strides[0] + j·strides[1] + …, in row-major order of the weight. The result is the block of the view that
    `sharding` gives this device: one strided slice of the weight's file, so nothing is moved.

    **Constraints**
    - C1: `weight` names a `weft.weight` of the result's element type.
    - C2: `shape` and `strides` have one entry per dimension of the result, sizes ≥ 1, strides ≥ 0; the view lies within
      the weight.
    - C3: `sharding` fits the view, is not partial, and the result is its local type.
    - C4: of a weight of kind `state`, which lies in memory as it is stored, the view is the whole.

    Example: the queries of a fused (3, h, d) projection of width 768, split by heads:
    ```mlir
    %q = dist.load_shard @qkv start 0 shape [768, 12, 64] strides [2304, 64, 1]
        sharding <@mesh, [{}, {"model"}, {} ]> : tensor<768x6x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight, I64Attr:$start, DenseI64ArrayAttr:$shape,
                       DenseI64ArrayAttr:$strides, Dist_ShardingAttr:$sharding);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    $weight `start` $start `shape` $shape `strides` $strides `sharding` $sharding attr-dict `:` type($result)
  }];
}

def Dist_MaskPaddingOp : Dist_Op<"mask_padding", [Pure, SameOperandsAndResultType,
                                                  DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "puts a reduction's identity into what of a block is padding";
  let description = [{
    Blocks of `dim` lie one after another along `axes`, first major, and hold `extent` elements in all; what lies behind
    those is unspecified. In the result it is the identity of `reduction`: 0 of sums, 1 of products, the least value of
    max, the greatest of min.

    **Constraints**
    - C1: `dim` is below the rank; `extent` is at most the block's times the product of `axes`.

    Example, a half of 7 columns: `%1 = dist.mask_padding sum %0 dim 1 of 7 axes ["model"] on @mesh : tensor<8x4xf32>`
  }];
  let arguments = (ins Dist_ReduceKindAttr:$reduction, Dist_Tensor:$input, I64Attr:$dim, I64Attr:$extent,
                       Dist_Axes:$axes, FlatSymbolRefAttr:$mesh);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    `` $reduction $input `dim` $dim `of` $extent `axes` custom<Axes>($axes) `on` $mesh attr-dict `:` type($result)
  }];
}

def Dist_OffsetOp : Dist_Op<"offset", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "where this device's block of a split extent starts";
  let description = [{
    (coordinate along `axes`, first major) · `block`, as i64.

    **Constraints**
    - C1: the mesh exists, and `axes` are distinct axes of it.

    Example: `%0 = dist.offset axes ["model"] block 128 on @mesh : tensor<i64>`
  }];
  let arguments = (ins Dist_Axes:$axes, I64Attr:$block, FlatSymbolRefAttr:$mesh);
  let results = (outs 0DTensorOf<[I64]>:$result);
  let assemblyFormat = "`axes` custom<Axes>($axes) `block` $block `on` $mesh attr-dict `:` type($result)";
}

def Dist_PermuteOp : Dist_CollectiveOp<"permute", [SameOperandsAndResultType]> {
  let summary = "sends the value to another device of the group";
  let description = [{
    Within each group, the device of coordinate c along `from` sends to the device of that coordinate along `to`:
    the same axes in another order.

    **Constraints**
    - C1: the mesh exists, and `from` are distinct axes of it.
    - C2: `to` is a permutation of `from`.

    Example: `%1 = dist.permute %0 from ["x", "y"] to ["y", "x"] on @mesh : tensor<4x8xf32>`
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_Axes:$from, Dist_Axes:$to, FlatSymbolRefAttr:$mesh);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `from` custom<Axes>($from) `to` custom<Axes>($to) `on` $mesh attr-dict `:` type($result)";
}

def Dist_ReduceScatterOp : Dist_CollectiveOp<"reduce_scatter"> {
  let summary = "joins partial values and leaves each device one block";
  let description = [{
    **Constraints**
    - C1: the mesh exists, and `axes` are distinct axes of it.
    - C2: 0 ≤ `dim` < rank; the result's `dim` is the operand's divided by the product of `axes`; all else is equal.

    Example: `%1 = dist.reduce_scatter sum %0 dim 1 axes ["model"] on @mesh : tensor<4x64xf32> -> tensor<4x16xf32>`
  }];
  let arguments = (ins Dist_ReduceKindAttr:$reduction, Dist_Tensor:$input, I64Attr:$dim, Dist_Axes:$axes,
                       FlatSymbolRefAttr:$mesh);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    `` $reduction $input `dim` $dim `axes` custom<Axes>($axes) `on` $mesh attr-dict `:` type($input) `->` type($result)
  }];
}

def Dist_SliceOp : Dist_CollectiveOp<"slice"> {
  let summary = "this device's block of a value that the group holds whole";
  let description = [{
    No communication.

    **Constraints**
    - C1: the mesh exists, and `axes` are distinct axes of it.
    - C2: 0 ≤ `dim` < rank; the result's `dim` is the operand's divided by the product of `axes`; all else is equal.

    Example: `%1 = dist.slice %0 dim 1 axes ["model"] on @mesh : tensor<4x64xf32> -> tensor<4x16xf32>`
  }];
  let arguments = (ins Dist_Tensor:$input, I64Attr:$dim, Dist_Axes:$axes, FlatSymbolRefAttr:$mesh);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `axes` custom<Axes>($axes) `on` $mesh attr-dict `:` type($input) `->` type($result)";
  let hasCanonicalizer = 1;
}

def Dist_ResultOfOp : Dist_Op<"result_of", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what a part makes that is called later";
  let description = [{
    Stands in @main of a training step in parts for a result of a call further down. The backward pass of a stage reads
    gradients that the stage behind it makes, which reads what the stage made in its forward pass: so each is called
    once, and they read one another. Before instructions are selected, such parts become phases
    (`--weft-outline-microbatches`), each of which is called behind what it reads.

    **Constraints**
    - C1: `part` names a function that has a result `number` of this type.

    Example: `%1 = dist.result_of @part1 2 : tensor<4x16xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$part, ConfinedAttr<I64Attr, [IntNonNegative]>:$number);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$part $number attr-dict `:` type($result)";
}

def Dist_StoreShardOp : Dist_Op<"store_shard", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "sets this device's block of a state at the step's end";
  let description = [{
    `dist.load_shard` of the same step reads the old value, wherever it stands.

    **Constraints**
    - C1: `weight` names a `weft.weight` of kind `state`.
    - C2: `sharding` fits it, is not partial, and the value is of its local type.

    Example: a cache that is split by heads:
    ```mlir
    dist.store_shard @k_cache, %k sharding <@mesh, [{}, {"model"}, {}, {} ]> : tensor<2x2x48x16xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight, Dist_Tensor:$value, Dist_ShardingAttr:$sharding);
  let assemblyFormat = "$weight `,` $value `sharding` $sharding attr-dict `:` type($value)";
}

def Dist_TransferOp : Dist_Op<"transfer", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a value moves to another mesh";
  let description = [{
    What crosses meshes (besides `dist.cross_mesh_all_reduce`, which becomes this); the two sides' shardings are free.

    **Constraints**
    - C1: `from` and `to` name meshes, two unlike ones.
    - C2: neither is partial; both fit, and give the operand and the result as blocks of one global tensor.

    Example:
    ```mlir
    %1 = dist.transfer %0 from <@a, [{"x"}, {} ]> to <@b, [{}, {"y"} ]>
        : tensor<2x8xf32> -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_ShardingAttr:$from, Dist_ShardingAttr:$to);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to attr-dict `:` type($input) `->` type($result)";
}

def Dist_AccumulateOp : Dist_Op<"accumulate", [Pure, SameOperandsAndResultShape,
                                               DeclareOpInterfaceMethods<FactorRuleOpInterface, ["getFactorRule"]>]> {
  let summary = "the sum of a value over the microbatches of a step";
  let description = [{
    What the operand is computed from is computed for each microbatch, what the result is used for after the last one. The
    sum may be of a wider type than what is summed. A partial sum over ranks may stay one, and is joined behind the last.
    What comes in several parts of each microbatch, as slices of its sequence do, is one sum: each goes `onto` the one before,
    and the last is the sum of all.

    **Constraints**
    - C1: operand and result have one shape; both are of floats or of integers, the result no narrower.
    - C2: `onto` is another sum of the result's type.

    Example: `%1 = dist.accumulate %0 : tensor<16x32xbf16> to tensor<16x32xf32>`
  }];
  let arguments = (ins Dist_Tensor:$input, Optional<Dist_Tensor>:$onto);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result) (`onto` $onto^ `:` type($onto))?";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$input), [{
    build($_builder, $_state, type, input, ::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def Dist_MicrobatchOp : Dist_Op<"microbatch", [Pure, DeclareOpInterfaceMethods<FactorRuleOpInterface, ["getFactorRule"]>]> {
  let summary = "the number of the microbatch that is computed, from 0 on";
  let description = [{
    Rows of microbatch i start at i times its size: those of the whole batch, on a mesh of any width.

    Example: `%0 = dist.microbatch : tensor<i64>`
  }];
  let arguments = (ins);
  let results = (outs 0DTensorOf<[I64]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // DIST_OPS_TD
