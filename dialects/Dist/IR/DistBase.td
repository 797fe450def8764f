//===- DistBase.td - the dist dialect, meshes and shardings ---------------===//

#ifndef DIST_BASE_TD
#define DIST_BASE_TD

include "dialects/Support/ReduceKind.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::weft::dist";
  let summary = "meshes, shardings, and per-device programs with explicit collectives";
  let description = [{
    Two uses. On a global module, `dist.mesh` symbols and `#dist.sharding` attributes (`dist.sharding` on operations,
    weights, function arguments and results, `dist.shardings` on operations of several results) say how values are
    split. Each is a decision, whoever wrote it, unless its function is marked `dist.propagated`: then the decisions are
    those marked `dist.pinned` (of several results one bool each), and the others followed from them. After
    partitioning, the module is one program that every device of the mesh runs (SPMD): tensors are local, and all
    communication is an operation of this dialect. Rank numbers never occur: groups are named by mesh axes.

    **Constraints** on the attributes that this dialect puts on operations of others
    - C1: `dist.sharding` is a `#dist.sharding` that fits the value: of an operation of one result, a weight, an argument
      or a result of a function.
    - C2: `dist.shardings`, instead of `dist.sharding`, has one that fits for each result of its operation, or on a weight
      one for each of two meshes or more.
    - C3: `dist.pinned` stands beside a sharding, and is a unit or one bool per entry of `dist.shardings` (per result).
    - C4: `dist.propagated` is a unit on a function.
    - C5: `dist.mesh` is the name of a mesh, on a function.
    - C6: `dist.arrival` is a `#dist.sharding` that fits an argument, on the mesh of the `dist.sharding` beside it.
    - C7: an argument or result with `weft.global_type` is the block of that type that its sharding gives a device.
    - C8: no other attribute has the dialect's prefix.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

class Dist_Attr<string name, string attrMnemonic> : AttrDef<Dist_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Dist_ReduceKindAttr : KeywordEnumAttr<Dist_Dialect, ReduceKind, "reduction">;

def Dist_MeshAxisAttr : Dist_Attr<"MeshAxis", "axis"> {
  let summary = "an axis of a mesh: name and size, `\"data\"=2`";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "$name `=` $size";
}

def Dist_AxisRefAttr : Dist_Attr<"AxisRef", "axis_ref"> {
  let summary = "an axis, or a sub-axis `\"x\":(pre)size`";
  let description = [{
    A whole axis is `"model"` (size 0 stands for "whole"). The sub-axis `"model":(1)2` of an axis of size 4 is its
    major half, `"model":(2)2` its minor half: of an axis of size N, the sub-axis (pre)size has coordinate
    (c / (N / (pre·size))) mod size, where `pre`·`size` divides N.
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$pre, "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool isFullAxis() const { return getSize() == 0; }
  }];
}

def Dist_DimShardingAttr : Dist_Attr<"DimSharding", "dim"> {
  let summary = "the axes that split one dimension, major to minor: `{\"data\", \"model\":(1)2}`";
  let description = [{
    A dimension of n elements in k blocks has blocks of ceil(n/k); where k does not divide n the last ones are padded,
    or hold nothing. In a dimension that joins others they are multiples of a unit: `{"data"} unit 64`, of 320 elements
    over 2 devices, has blocks of 192 and 128.
  }];
  let parameters = (ins OptionalArrayRefParameter<"AxisRefAttr">:$axes, "int64_t":$unit);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<AxisRefAttr>":$axes), "return $_get($_ctxt, axes, 1);">];
}

def Dist_ShardingAttr : Dist_Attr<"Sharding", "sharding"> {
  let summary = "how a tensor lies on a mesh";
  let description = [{
    Per dimension the axes that split it, major to minor, and the axes over which the value is partial (unreduced)
    with their reduction. Axes not named replicate.

    **Constraints** (checked against mesh and type by `verifySharding`)
    - C1: the mesh exists; every axis is one of its axes; sub-axes divide their axis and are not the whole of it.
    - C2: no axis (or overlapping sub-axis) is used twice, partial axes included.
    - C3: one entry per dimension.
    - C4: a unit other than 1 stands only where blocks are padded, and divides the dimension.

    Example: `#dist.sharding<@mesh, [{"data"}, {}, {"model":(1)2} ], partial = sum{"seq"}>`
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, OptionalArrayRefParameter<"DimShardingAttr">:$dims,
                        OptionalArrayRefParameter<"AxisRefAttr">:$partial, "::weft::ReduceKind":$reduction);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The sharding that splits nothing.
    static ShardingAttr getReplicated(::mlir::FlatSymbolRefAttr mesh, int64_t rank);
    bool isPartial() const { return !getPartial().empty(); }
    /// Whether no dimension is split and the value is not partial.
    bool isReplicated() const;
    ::llvm::ArrayRef<AxisRefAttr> getAxes(unsigned dim) const { return getDims()[dim].getAxes(); }
    /// The same split with other partial axes (none: a reduced value).
    ShardingAttr withPartial(::llvm::ArrayRef<AxisRefAttr> axes, ReduceKind reduction) const;
    ShardingAttr withoutPartial() const { return withPartial({}, ReduceKind::Sum); }
    /// The same sharding with other axes on one dimension.
    ShardingAttr withDim(unsigned dim, ::llvm::ArrayRef<AxisRefAttr> axes, int64_t unit = 1) const;
  }];
}

#endif // DIST_BASE_TD
