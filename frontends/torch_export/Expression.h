//===- Expression.h - sizes as expressions of symbols -----------*- C++ -*-===//
//
// torch writes sizes that are not numbers as text: `Add(Mul(Integer(2), Symbol('s81',
// positive=True, integer=True)), Integer(1))` in the form of sympy's srepr, `2*s81 + 1` in that of
// str. One grammar reads both; values are exact fractions, so that `s0/2` within a floor is right.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_EXPRESSION_H
#define WEFT_FRONTENDS_TORCH_EXPORT_EXPRESSION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::frontend::aten {

/// The value of a symbol, or none.
using SymbolValues = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

/// The value of an expression; none where a symbol in it has none. Throws ImportError where it is
/// malformed, holds an unknown function, or its value is no integer of 64 bits.
std::optional<int64_t> evaluateExpression(llvm::StringRef text, SymbolValues symbols);

/// The symbols of an expression, each once, in order of appearance.
std::vector<std::string> symbolsOf(llvm::StringRef text);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_EXPRESSION_H
