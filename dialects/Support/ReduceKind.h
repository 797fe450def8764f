//===- ReduceKind.h - how values are joined ---------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_SUPPORT_REDUCEKIND_H
#define WEFT_DIALECTS_SUPPORT_REDUCEKIND_H

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

#include "dialects/Support/ReduceKind.h.inc"

#endif // WEFT_DIALECTS_SUPPORT_REDUCEKIND_H
