//===- WriteModule.h - a loaded model as a file -----------------*- C++ -*-===//

#ifndef WEFT_DRIVER_WRITEMODULE_H
#define WEFT_DRIVER_WRITEMODULE_H

#include "driver/Outcome.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Support/OutputFile.h"

namespace weft {

/// Writes a module that loadModel() can read again. As a file of its own it has paths relative to
/// its folder, and large constants beside it in FILE.data; neither is put in its place before both
/// are whole. The module's own paths change with it. Fails with Failure where nothing can be
/// written.
Outcome writeModule(mlir::ModuleOp module, runtime::OutputFile &file);

} // namespace weft

#endif // WEFT_DRIVER_WRITEMODULE_H
