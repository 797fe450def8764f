//===- Diagnostics.h - MLIR's diagnostics as messages -----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_DIAGNOSTICS_H
#define WEFT_TOOLS_WEFT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace weft::tool {

/// Says errors and, unless the command is quiet, warnings of a context, one a line, with the source
/// name or file that they are about; remarks, each once, where more is to be said.
class PrintDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  explicit PrintDiagnostics(mlir::MLIRContext *context, bool isVerbose = false);

private:
  llvm::StringSet<> remarked;
};

/// Says from now on, unless the command is quiet, what passes nearly raised and why they did not;
/// once a context.
void printMissedRemarks(mlir::MLIRContext &context);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_DIAGNOSTICS_H
