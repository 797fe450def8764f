//===- PlanReport.h - what a plan costs -------------------------*- C++ -*-===//

#ifndef WEFT_DRIVER_PLANREPORT_H
#define WEFT_DRIVER_PLANREPORT_H

#include "driver/Outcome.h"
#include "driver/Phases.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Inspect/InspectReport.h"

namespace weft {

/// Lowers a planned module as `weft compile` would, without code and files: its programs, ranks,
/// meshes and weights. Fails with Infeasible where it cannot be lowered.
Result<program::Executable> lowerInPlace(mlir::ModuleOp planned, PhaseObserver *observer = nullptr);

/// The same of a copy.
Result<program::Executable> lowerPlanned(mlir::ModuleOp planned);

/// Lowers a planned module and inspects the program: what a plan is said to cost is counted where
/// `weft inspect` and the runtime count it.
Result<runtime::InspectReport> reportPlan(mlir::ModuleOp planned);

} // namespace weft

#endif // WEFT_DRIVER_PLANREPORT_H
