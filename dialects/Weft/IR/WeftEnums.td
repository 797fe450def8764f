//===- WeftEnums.td - the enums of the weft dialect -----------------------===//

#ifndef WEFT_ENUMS_TD
#define WEFT_ENUMS_TD

include "dialects/Support/KeywordEnum.td"

class Weft_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : KeywordEnum<"::weft", name, description, cases>;

def Weft_WeightKind : Weft_Enum<"WeightKind", "what a weight symbol stands for", [
  I32EnumAttrCase<"Constant", 0, "constant">,   // never trained: tables, masks
  I32EnumAttrCase<"Parameter", 1, "parameter">, // may be trained
  I32EnumAttrCase<"State", 2, "state">,         // changed by the step: caches, statistics, optimizer state
  I32EnumAttrCase<"Trained", 3, "trained">      // a parameter that the step changes
]>;

def Weft_MemorySpace : Weft_Enum<"MemorySpace", "where a weight's value is kept", [
  I32EnumAttrCase<"Device", 0, "device">, // in the memory of what computes
  I32EnumAttrCase<"Host", 1, "host">      // in its host's: it is fetched to be read, and written back
]>;

def Weft_CompareDirection : Weft_Enum<"CompareDirection", "comparison", [
  I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">, I32EnumAttrCase<"LT", 2, "lt">,
  I32EnumAttrCase<"LE", 3, "le">, I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]>;

def Weft_ScatterKind : Weft_Enum<"ScatterKind", "how a scatter joins with what is there", [
  I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]>;

def Weft_GeluForm : Weft_Enum<"GeluForm", "formula of gelu", [
  I32EnumAttrCase<"Erf", 0, "erf">, I32EnumAttrCase<"Tanh", 1, "tanh">]>;

#endif // WEFT_ENUMS_TD
