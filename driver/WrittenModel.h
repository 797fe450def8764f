//===- WrittenModel.h - modules that a person may have written --*- C++ -*-===//

#ifndef WEFT_DRIVER_WRITTENMODEL_H
#define WEFT_DRIVER_WRITTENMODEL_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Checks that a module of the weft dialect is what the compiler takes a model to be: @main of
/// weft's operations on tensors of static shape, or @main that calls parts of such (Parts.h), each
/// once. Reports what is not. Of parts it names the values as those of a model that was cut: each
/// name once, an argument as what it is given.
bool checkWrittenModel(mlir::ModuleOp module);

/// Whether it is written in parts.
bool isInParts(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_DRIVER_WRITTENMODEL_H
