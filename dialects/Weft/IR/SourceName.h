//===- SourceName.h - the name a value had in its source --------*- C++ -*-===//
//
// Frontends give every operation a NameLoc with the source name of the value it makes (ONNX: the
// node's output; torch.export: module path and op). Passes that fuse operations make FusedLocs, the
// kept value's location first.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_SOURCENAME_H
#define WEFT_DIALECTS_WEFT_IR_SOURCENAME_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include <string>

namespace weft {

/// The source name in `loc` (the first one of a fused location), or "" if it holds none.
llvm::StringRef getSourceName(mlir::Location loc);

/// The source name of a value: of its defining operation (`name#k` for result k > 0), or of a
/// function argument (its `weft.name`).
std::string getSourceName(mlir::Value value);

/// All source names held in `loc`, the kept value's first, then those that were fused away.
llvm::SmallVector<llvm::StringRef> getAllSourceNames(mlir::Location loc);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_SOURCENAME_H
