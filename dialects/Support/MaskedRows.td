//===- MaskedRows.td - what attention gives where nothing is seen ---------===//

#ifndef SUPPORT_MASKEDROWS_TD
#define SUPPORT_MASKEDROWS_TD

include "dialects/Support/KeywordEnum.td"

def MaskedRows : KeywordEnum<"::weft", "MaskedRows", "attention's result on fully masked rows", [
  I32EnumAttrCase<"Uniform", 0, "uniform">, // the mean of all values (masked scores are one large finite number)
  I32EnumAttrCase<"Zero", 1, "zero">,
  I32EnumAttrCase<"Nan", 2, "nan">]>;       // masked scores are -inf

#endif // SUPPORT_MASKEDROWS_TD
