//===- InspectPlan.cpp - weft inspect of a plan ---------------------------===//

#include "driver/PlanAnswer.h"
#include "driver/Planning.h"
#include "tools/weft/Command.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/PlanTable.h"

using namespace weft;

int weft::tool::inspectPlan(const std::string &path, const std::string &modelPath,
                            const Common &common) {
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context);
  Result<PlannedModel> model = readPlanned(context, path, modelPath);
  if (model.failed())
    return model.getExitCode();
  Result<PlanAnswer> answer = answerPlan(*model->module, model->planned, model->plan);
  if (answer.failed())
    return answer.getExitCode();
  showPlan(model->plan, *answer, PlanSearch(), /*topK=*/1, common);
  return Exit::Ok;
}
