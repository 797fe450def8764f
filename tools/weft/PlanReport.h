//===- PlanReport.h - what a plan costs -------------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PLANREPORT_H
#define WEFT_TOOLS_WEFT_PLANREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft::tool {

/// One collective of the partitioned program.
struct CollectiveUse {
  std::string kind, reduction, dtype, source;
  std::vector<std::string> axes;
  int64_t bytes = 0; ///< the full buffer of one group: what is reduced, or all that is gathered
};

struct PlanReport {
  int64_t ranks = 1;
  int64_t weightBytes = 0;      ///< that each rank holds
  int64_t wholeWeightBytes = 0; ///< that one device alone would hold
  std::vector<CollectiveUse> collectives;
};

/// Partitions a copy of a planned module and counts. None, with errors reported, if it cannot be
/// partitioned.
std::optional<PlanReport> reportPlan(mlir::ModuleOp planned);

nlohmann::ordered_json toJson(const CollectiveUse &collective);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PLANREPORT_H
