//===- PlanReport.h - what a plan costs -------------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PLANREPORT_H
#define WEFT_TOOLS_WEFT_PLANREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "tools/weft/InspectReport.h"

#include <optional>

namespace weft::tool {

/// Lowers a copy of a planned module as `weft compile` would, and inspects the program: what a plan
/// is said to cost is counted where `weft inspect` and the runtime count it. None, with errors
/// reported, if it cannot be lowered.
std::optional<InspectReport> reportPlan(mlir::ModuleOp planned);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PLANREPORT_H
