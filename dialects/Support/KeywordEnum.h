//===- KeywordEnum.h - enums that are written as keywords -------*- C++ -*-===//

#ifndef WEFT_DIALECTS_SUPPORT_KEYWORDENUM_H
#define WEFT_DIALECTS_SUPPORT_KEYWORDENUM_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

namespace weft {

/// Parses the keyword of an enum whose cases are 0, 1, 2, …; an error about anything else lists the
/// keywords.
template <typename Enum> mlir::FailureOr<Enum> parseKeywordEnum(mlir::AsmParser &parser) {
  llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef word;
  bool isWord = succeeded(parser.parseOptionalKeyword(&word));
  llvm::SmallVector<llvm::StringRef> keywords;
  for (uint32_t value = 0; !stringifyEnum(Enum(value)).empty(); ++value) {
    keywords.push_back(stringifyEnum(Enum(value)));
    if (isWord && keywords.back() == word)
      return Enum(value);
  }
  mlir::InFlightDiagnostic error = parser.emitError(at)
                                   << "expected one of " << llvm::join(keywords, ", ");
  if (isWord)
    error << ", got: " << word;
  return mlir::failure();
}

} // namespace weft

#endif // WEFT_DIALECTS_SUPPORT_KEYWORDENUM_H
