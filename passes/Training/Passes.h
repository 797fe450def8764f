//===- Passes.h - a model becomes a training step ---------------*- C++ -*-===//

#ifndef WEFT_PASSES_TRAINING_PASSES_H
#define WEFT_PASSES_TRAINING_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Training/Passes.h.inc"

} // namespace weft

#endif // WEFT_PASSES_TRAINING_PASSES_H
