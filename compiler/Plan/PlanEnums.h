//===- PlanEnums.h - a plan's enums and the compiler's ----------*- C++ -*-===//
//
// A new case of the compiler's fails to compile here; one of the plan's that has no counterpart is
// refused (test/unit/Plan goes through all of them).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PLAN_PLANENUMS_H
#define WEFT_COMPILER_PLAN_PLANENUMS_H

#include "compiler/Plan/plan.pb.h"
#include "dialects/Support/ReduceKind.h"
#include "llvm/Support/ErrorHandling.h"

namespace weft {

inline plan::Reduction toPlan(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return plan::SUM;
  case ReduceKind::Max:
    return plan::MAX;
  case ReduceKind::Min:
    return plan::MIN;
  case ReduceKind::Prod:
    return plan::PROD;
  }
  llvm_unreachable("a reduction outside its enum");
}

/// None for a number that the plan's enum does not name, which a file may hold (see validatePlan).
inline std::optional<ReduceKind> fromPlan(plan::Reduction reduction) {
  switch (static_cast<int>(reduction)) {
  case plan::SUM:
    return ReduceKind::Sum;
  case plan::MAX:
    return ReduceKind::Max;
  case plan::MIN:
    return ReduceKind::Min;
  case plan::PROD:
    return ReduceKind::Prod;
  default:
    return std::nullopt;
  }
}

} // namespace weft

#endif // WEFT_COMPILER_PLAN_PLANENUMS_H
