//===- ClusterClock.h - seconds of instructions on a cluster ----*- C++ -*-===//

#ifndef WEFT_PASSES_LOWERING_CLUSTERCLOCK_H
#define WEFT_PASSES_LOWERING_CLUSTERCLOCK_H

#include "compiler/Lowering/InstructionClock.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace weft {

/// The clock of the cluster that a module was planned for (dist::kClusterAttr): what computes by
/// the rates of a device, collectives as they are priced everywhere (MeshPrices.h). The target's
/// where none is named, and, with a warning, where what is named is not known.
std::unique_ptr<InstructionClock> makeClock(mlir::ModuleOp module, const Target &target);

} // namespace weft

#endif // WEFT_PASSES_LOWERING_CLUSTERCLOCK_H
