//===- MaskedRows.h - what attention gives where nothing is seen -*- C++ -*-===//

#ifndef WEFT_DIALECTS_SUPPORT_MASKEDROWS_H
#define WEFT_DIALECTS_SUPPORT_MASKEDROWS_H

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

#include "dialects/Support/MaskedRows.h.inc"

#endif // WEFT_DIALECTS_SUPPORT_MASKEDROWS_H
