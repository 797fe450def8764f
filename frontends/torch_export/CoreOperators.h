//===- CoreOperators.h - what `run_decompositions` leaves -------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_COREOPERATORS_H
#define WEFT_FRONTENDS_TORCH_EXPORT_COREOPERATORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace weft {

struct CoreOperator {
  llvm::StringLiteral name; ///< `aten.add.Tensor`
  llvm::StringLiteral
      note; ///< why it is not covered, or in which cases it is; empty: no more to say
};

/// Sorted by name.
llvm::ArrayRef<CoreOperator> listCoreOperators();

} // namespace weft

#endif // WEFT_FRONTENDS_TORCH_EXPORT_COREOPERATORS_H
