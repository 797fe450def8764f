//===- Passes.h - from a global program to a local one ----------*- C++ -*-===//

#ifndef WEFT_PASSES_PARTITION_PASSES_H
#define WEFT_PASSES_PARTITION_PASSES_H

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Partition/Passes.h.inc"

} // namespace weft

#endif // WEFT_PASSES_PARTITION_PASSES_H
