//===- Plan.cpp - weft plan -----------------------------------------------===//

#include "compiler/Plan/PlanText.h"
#include "driver/PlanReport.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/Output.h"
#include "tools/weft/PlanTable.h"

using namespace weft;
using namespace weft::tool;

namespace {
struct PlanCommand {
  std::string model, output;
  ModelOptions load;
  PlanOptions plan;
};
} // namespace

static int runPlan(const PlanCommand &command, const Common &common) {
  ModelOptions load = command.load;
  std::optional<runtime::OutputFile> file;
  if (int code = openOutput(command.output, common, file))
    return code;
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context);
  Result<plan::Plan> plan = preparePlan(context, command.plan, load);
  if (plan.failed())
    return plan.getExitCode();
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = loadModel(context, command.model, load);
  if (module.failed())
    return module.getExitCode();
  if (Outcome trained = trainPlanned(**module, *plan); trained.failed())
    return trained.getExitCode();
  if (Outcome planned = planModule(**module, *plan).getOutcome(); planned.failed())
    return planned.getExitCode();
  Result<runtime::InspectReport> report = reportPlan(**module);
  if (report.failed())
    return report.getExitCode();
  if (file) {
    noteModel(*plan, command.model, file->getPath(), load);
    file->write(printPlan(*plan));
    file->commit();
  }
  if (common.json || hasTables(file, common))
    showPlan(*plan, *report, common);
  return Exit::Ok;
}

CLI::App *weft::tool::addPlan(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("plan", "decide how a model is split over devices, and say what it costs");
  auto options = std::make_shared<PlanCommand>();
  command->add_option("model", options->model, modelKinds)->required()->type_name("MODEL");
  command->add_option("-o,--output", options->output, "the plan to write (-: the standard output)")
      ->type_name("PLAN.txtpb");
  addModelOptions(*command, options->load);
  addPlanOptions(*command, options->plan, /*withPlan=*/false);
  command->footer("Examples:\n  weft plan gpt2.onnx --mesh data=2,model=2 -o plan.txtpb\n"
                  "  weft plan gpt2.onnx --mesh data=4 --shard 'input_ids=[{data},{}]'\n"
                  "  weft plan config.json --mesh data=8,model=8 --train adamw --global-batch 512 "
                  "--seq 4096 --dtype bf16");
  run = [options, &common] { return runPlan(*options, common); };
  return command;
}
