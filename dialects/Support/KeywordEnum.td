//===- KeywordEnum.td - enums that are written as keywords ----------------===//
//
// Wherever such an enum is parsed, an error lists the keywords.
//
//===----------------------------------------------------------------------===//

#ifndef SUPPORT_KEYWORDENUM_TD
#define SUPPORT_KEYWORDENUM_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

/// Its cases are 0, 1, 2, …
class KeywordEnum<string namespace, string name, string description, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, description, cases> {
  let cppNamespace = namespace;
  let genSpecializedAttr = 0;
  let parameterParser = "::weft::parseKeywordEnum<" # cppType # ">($_parser)";
}

class KeywordEnumAttr<Dialect dialect, I32EnumAttr enum, string mnemonic> : EnumAttr<dialect, enum, mnemonic> {
  let cppNamespace = dialect.cppNamespace; // of an enum that several dialects have, each has its own attribute
  let assemblyFormat = ?;
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser, ::mlir::Type) {
      auto value = ::weft::parseKeywordEnum<}] # enum.cppType # [{>(parser);
      return ::mlir::succeeded(value) ? get(parser.getContext(), *value) : $cppClass();
    }
    void $cppClass::print(::mlir::AsmPrinter &printer) const { printer << ' ' << stringifyEnum(getValue()); }
  }];
}

#endif // SUPPORT_KEYWORDENUM_TD
