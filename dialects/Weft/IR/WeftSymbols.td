//===- WeftSymbols.td - weights, loads, constants -------------------------===//

#ifndef WEFT_SYMBOLS_TD
#define WEFT_SYMBOLS_TD

include "dialects/Weft/IR/WeftBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Weft_WeightOp : Weft_Op<"weight", [Symbol]> {
  let summary = "a named tensor that outlives the step";
  let description = [{
    Names a tensor and says where its first value lies: in a file (`#weft.external`) or, for constants that the
    compiler computed, in a resource of the module. The value is read with `weft.load`. One of kind `state` (caches,
    statistics, an optimizer's moments) or `trained` may be set with `weft.store`, and keeps that value between steps.

    **Constraints**
    - C1: storage holds exactly the bytes of `type` (i1 takes a byte an element).
    - C2: storage is `#weft.external`, `dense_resource` of the same type, or a splat.
    - C3: a weight that is kept in the host's memory is of kind `state`.

    Example:
    ```mlir
    weft.weight @h0.mlp.up : tensor<768x3072xf32> = #weft.external<"gpt2.onnx.data", 1024, 9437184>
    weft.weight kind(constant) @mask : tensor<32x32xi1> = dense_resource<mask> : tensor<32x32xi1>
    weft.weight kind(state) @"optimizer.m:w" : tensor<768x3072xf32> = dense<0.0> : tensor<768x3072xf32> in host
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Weft_Tensor>:$type,
                       AnyAttr:$storage,
                       DefaultValuedAttr<Weft_WeightKindAttr, "::weft::WeightKind::Parameter">:$kind,
                       DefaultValuedAttr<Weft_MemorySpaceAttr, "::weft::MemorySpace::Device">:$space);
  let assemblyFormat = "`` custom<WeightKind>($kind) $sym_name `:` $type `=` $storage (`in` $space^)? attr-dict";
  let hasVerifier = 1;
}

def Weft_LoadOp : Weft_TensorOp<"load", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight at the step's start";
  let description = [{
    **Constraints**
    - C1: `weight` names a `weft.weight` of the result's type.

    Example: `%w = weft.load @h0.mlp.up : tensor<768x3072xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Weft_StoreOp : Weft_Op<"store", [DeclareOpInterfaceMethods<FactorRuleOpInterface, ["getFactorRule"]>,
                                     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "sets the value of a state, or of a trained parameter, at the step's end";
  let description = [{
    Loads of the same step read the old value, wherever they stand. Storing what was loaded changes nothing, and is
    dropped.

    **Constraints**
    - C1: `weight` names a `weft.weight` of kind `state` or `trained` and of the value's type.
    - C2: a function stores a state at most once.

    Example: `weft.store @layers.0.k_cache, %v : tensor<2x4x48x16xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight, Weft_Tensor:$value);
  let assemblyFormat = "$weight `,` $value attr-dict `:` type($value)";
  let hasCanonicalizer = 1;
}

def Weft_ConstantOp : Weft_TensorOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>],
                                   ["getFactorRule", "buildLocal"]> {
  let summary = "a small constant";
  let description = [{
    Larger constants are weights of kind `constant`.

    **Constraints**
    - C1: `value` is a splat, or holds at most 1024 elements.

    Example: `%c = weft.constant dense<0.125> : tensor<4x32xf32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Constants of more elements that are not splats must be weights (C1).
    static constexpr int64_t maxElements = 1024;
  }];
}

#endif // WEFT_SYMBOLS_TD
