//===- Passes.h - from per-device tensors to instructions -------*- C++ -*-===//

#ifndef WEFT_PASSES_LOWERING_PASSES_H
#define WEFT_PASSES_LOWERING_PASSES_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Lowering/Passes.h.inc"

} // namespace weft

#endif // WEFT_PASSES_LOWERING_PASSES_H
