//===- ReduceKind.td - how values are joined ------------------------------===//
//
// One enum for all dialects: of what an operation reduces, of partial values, of collectives.
//
//===----------------------------------------------------------------------===//

#ifndef SUPPORT_REDUCEKIND_TD
#define SUPPORT_REDUCEKIND_TD

include "dialects/Support/KeywordEnum.td"

def ReduceKind : KeywordEnum<"::weft", "ReduceKind", "reduction", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">]>;

#endif // SUPPORT_REDUCEKIND_TD
