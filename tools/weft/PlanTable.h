//===- PlanTable.h - a plan for people and for machines ---------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PLANTABLE_H
#define WEFT_TOOLS_WEFT_PLANTABLE_H

#include "compiler/Plan/plan.pb.h"
#include "runtime/Inspect/InspectReport.h"
#include "tools/weft/Command.h"

namespace weft::tool {

/// Shows a plan's decisions and what they cost: a table, JSON with --json, nothing with --quiet.
void showPlan(const plan::Plan &plan, const runtime::InspectReport &report, const Common &common);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PLANTABLE_H
