//===- InspectPlan.cpp - weft inspect of a plan ---------------------------===//

#include "tools/weft/Command.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/PlanReport.h"
#include "tools/weft/PlanTable.h"
#include "tools/weft/Planning.h"

using namespace weft;

int weft::tool::inspectPlan(const std::string &path, const std::string &model,
                            const Common &common) {
  mlir::MLIRContext context;
  plan::Plan plan;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<PlannedModule> planned;
  if (int code = readPlanned(context, path, model, {}, plan, module, planned))
    return code;
  PrintDiagnostics printer(&context);
  std::optional<InspectReport> report = reportPlan(*module);
  if (!report)
    return Exit::Infeasible;
  showPlan(plan, *report, common);
  return Exit::Ok;
}
