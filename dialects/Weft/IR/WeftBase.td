//===- WeftBase.td - types, enums, attributes and op classes --------------===//

#ifndef WEFT_BASE_TD
#define WEFT_BASE_TD

include "dialects/Weft/IR/Decomposition.td"
include "dialects/Weft/IR/Elementwise.td"
include "dialects/Weft/IR/FactorRule.td"
include "dialects/Weft/IR/Gradient.td"
include "dialects/Weft/IR/Update.td"
include "dialects/Weft/IR/WeftDialect.td"
include "dialects/Support/MaskedRows.td"
include "dialects/Support/ReduceKind.td"
include "dialects/Weft/IR/WeftEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Weft_Float : AnyTypeOf<[F16, BF16, F32, F64], "float">;
def Weft_Int : AnyTypeOf<[AnySignlessInteger, AnyUnsignedInteger], "integer">;
def Weft_Element : AnyTypeOf<[Weft_Float, Weft_Int], "float or integer">;

def Weft_Tensor : StaticShapeTensorOf<[Weft_Element]>;
def Weft_FloatTensor : StaticShapeTensorOf<[Weft_Float]>;
def Weft_IntTensor : StaticShapeTensorOf<[Weft_Int]>;
def Weft_BoolTensor : StaticShapeTensorOf<[I1]>;
def Weft_IndexScalar : 0DTensorOf<[I64]>;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Weft_EnumAttr<I32EnumAttr enum, string mnemonic> : KeywordEnumAttr<Weft_Dialect, enum, mnemonic>;

def Weft_WeightKindAttr : Weft_EnumAttr<Weft_WeightKind, "weight_kind">;
def Weft_MemorySpaceAttr : Weft_EnumAttr<Weft_MemorySpace, "memory_space">;
def Weft_CompareDirectionAttr : Weft_EnumAttr<Weft_CompareDirection, "compare">;
def Weft_ReduceKindAttr : Weft_EnumAttr<ReduceKind, "reduce_kind">;
def Weft_ScatterKindAttr : Weft_EnumAttr<Weft_ScatterKind, "scatter_kind">;
def Weft_GeluFormAttr : Weft_EnumAttr<Weft_GeluForm, "gelu_form">;
def Weft_MaskedRowsAttr : Weft_EnumAttr<MaskedRows, "masked_rows">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Weft_Attr<string name, string attrMnemonic> : AttrDef<Weft_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Weft_ExternalAttr : Weft_Attr<"External", "external"> {
  let summary = "bytes of a file: row-major elements, little endian";
  let description = [{
    **Constraints**
    - C1: `offset` ≥ 0 and `length` ≥ 0.

    Example: `#weft.external<"gpt2.onnx.data", 1024, 9437184>`
  }];
  let parameters = (ins StringRefParameter<"path, relative to the module's source or absolute">:$path,
                        "int64_t":$offset, "int64_t":$length);
  let assemblyFormat = "`<` $path `,` $offset `,` $length `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

class Weft_Op<string mnemonic, list<Trait> traits = []> : Op<Weft_Dialect, mnemonic, traits>;

/// An operation on tensors with a factor rule and gradients, free of effects. Attributes that depend on a split dimension's extent
/// or position need "buildLocal" among `rules`.
class Weft_TensorOp<string mnemonic, list<Trait> traits = [], list<string> rules = ["getFactorRule"]>
    : Weft_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<FactorRuleOpInterface, rules>,
                                      DeclareOpInterfaceMethods<DifferentiableOpInterface>], traits)>;

/// An operation that computes each element from one element of every operand: its factor rule, with its linearity for
/// partial sums. What it computes is in WeftArithmetic.cpp.
class Weft_ElementwiseOp<string mnemonic, string linearity, list<Trait> traits = []>
    : Weft_TensorOp<mnemonic, !listconcat([Elementwise, SameOperandsAndResultShape,
                                            DeclareOpInterfaceMethods<ElementwiseOpInterface>], traits)> {
  let extraClassDefinition = [{
    ::weft::FactorRule $cppClass::getFactorRule() {
      return ::weft::FactorRule::elementwise(getOperation(), ::weft::SumLinearity::}] # linearity # [{);
    }
  }];
}

class Weft_UnaryOp<string mnemonic, string text, string linearity = "None", Type type = Weft_FloatTensor,
                   list<Trait> traits = []>
    : Weft_ElementwiseOp<mnemonic, linearity, !listconcat([SameOperandsAndResultType], traits)> {
  let summary = text;
  let description = text # " of each element.\n\nExample: `%1 = weft." # mnemonic # " %0 : tensor<4x8xf32>`";
  let arguments = (ins type:$input);
  let results = (outs type:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

class Weft_BinaryOp<string mnemonic, string text, string linearity = "None", Type type = Weft_Tensor,
                    list<Trait> traits = []>
    : Weft_ElementwiseOp<mnemonic, linearity, !listconcat([SameOperandsAndResultType], traits)> {
  let summary = text;
  let description = text # ", element by element; operands of one type.\n\nExample: `%2 = weft." # mnemonic #
                    " %0, %1 : tensor<4x8xf32>`";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

#endif // WEFT_BASE_TD
