//===- PinPatterns.h - one pin for many values ------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_PLAN_PINPATTERNS_H
#define WEFT_COMPILER_PLAN_PINPATTERNS_H

#include "compiler/Plan/ApplyPlan.h"

namespace weft {

/// Replaces each decision whose name has a `*` (any characters, or none) by one for each value and
/// weight of the module that has such a name, in the module's order: `layers.*.mlp.up`. A name that
/// is decided without a pattern, or by an earlier one, stays so. `weight:layers.*` is of weights
/// alone, `result:*` of results. A pattern that matches nothing is an error.
PlanStatus expandPinPatterns(mlir::ModuleOp module, plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_PINPATTERNS_H
