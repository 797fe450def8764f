//===- Plan.cpp - weft plan -----------------------------------------------===//

#include "compiler/Plan/PlanText.h"
#include "driver/PinConflict.h"
#include "driver/PlanAnswer.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"
#include "tools/weft/PlanPage.h"
#include "tools/weft/PlanTable.h"
#include <filesystem>
#include <fmt/format.h>

using namespace weft;
using namespace weft::tool;

namespace {
struct PlanCommand {
  std::string model, output, report;
  ModelOptions load;
  PlanOptions plan;
  size_t topK = 1;
  double timeBudget = 0; ///< s
};
} // namespace

/// Plans that a page lists, if more are not asked for.
static constexpr size_t plansOnPage = 10;

/// Tells of what the time did not suffice for.
static void noteSkipped(const PlanSearch &search) {
  if (int64_t skipped = search.getSkipped())
    note(fmt::format("{} of {} plans were not tried: --time-budget was over", skipped,
                     skipped + static_cast<int64_t>(search.getCandidates().size())));
}

/// Keeps a value to the end of the process, whose memory goes at once: to take apart what there is
/// of a large plan piece by piece takes a second.
template <typename T> static T &keepToExit(T *value) {
  static T *kept;
  kept = value;
  return *kept;
}

/// Opens what is written, so that what cannot be is said at once.
static int openFiles(const PlanCommand &command, const Common &common,
                     std::optional<runtime::OutputFile> &plan,
                     std::optional<runtime::OutputFile> &page) {
  if (int code = openOutput("-o", command.output, common, plan))
    return code;
  if (int code = openOutput("--report", command.report, common, page))
    return code;
  if (isStandardOutput(plan) && isStandardOutput(page))
    return fail(Exit::Usage,
                fmt::format("--report {} and -o {} both want the standard output; name "
                            "a file",
                            command.report, command.output));
  return Exit::Ok;
}

static int runPlan(const PlanCommand &command, const Common &common) {
  ModelOptions load = command.load;
  std::optional<runtime::OutputFile> file, page;
  if (int code = openFiles(command, common, file, page))
    return code;
  auto &context = keepToExit(new mlir::MLIRContext);
  PrintDiagnostics printer(&context, common.verbose);
  Result<plan::Plan> plan = preparePlan(context, command.plan, load);
  if (plan.failed())
    return plan.getExitCode();
  auto &module = keepToExit(new auto(loadModel(context, command.model, load)));
  if (module.failed())
    return module.getExitCode();
  auto &search = keepToExit(new PlanSearch(command.timeBudget, command.topK));
  if (common.threads > 0)
    search.setThreads(common.threads);
  PinConflict pins(**module, command.plan, search.getThreads());
  if (Outcome trained = trainPlanned(**module, *plan, &search); trained.failed())
    return pins.explain(trained).getExitCode();
  auto &planned = keepToExit(new auto(planModule(**module, *plan, &search, /*isAnswer=*/true)));
  noteSkipped(search);
  if (planned.failed())
    return pins.explain(planned.getOutcome()).getExitCode();
  auto &answer = keepToExit(new auto(answerPlan(
      **module, planned->planned, *plan, std::move(planned->program), std::move(planned->blocks))));
  if (answer.failed())
    return answer.getExitCode();
  if (file) {
    noteModel(*plan, command.model, file->getPath(), load);
    file->write(printPlan(*plan));
    file->commit();
  }
  if (page) {
    page->write(
        makePlanPage(std::filesystem::path(command.model).filename(),
                     makePlanJson(*plan, *answer, search, std::max(command.topK, plansOnPage))));
    page->commit();
  }
  if (common.json || (hasTables(file, common) && hasTables(page, common)))
    showPlan(*plan, *answer, search, command.topK, common);
  return Exit::Ok;
}

CLI::App *weft::tool::addPlan(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("plan", "decide how a model is split over devices, and say what it costs");
  auto options = std::make_shared<PlanCommand>();
  command->add_option("model", options->model, modelKinds)->required()->type_name("MODEL");
  addOutputOption(*command, options->output, "the plan to write (-: the standard output)")
      ->type_name("PLAN.txtpb");
  command
      ->add_option("--report", options->report,
                   "a page for a browser to write: what a step takes and a device holds, blocks, "
                   "collectives, decisions")
      ->type_name("PAGE.html");
  addModelOptions(*command, options->load);
  addPlanOptions(*command, options->plan, /*withPlan=*/false);
  command
      ->add_option("--top-k", options->topK,
                   "list the best K plans that were tried: meshes, and, to train, microbatches and "
                   "what is computed again")
      ->check(isWithin(1, 1000))
      ->type_name("K");
  command
      ->add_option("--time-budget", options->timeBudget,
                   "take so many seconds for the search; what it left out is said")
      ->check(isWithin(1e-6, 1e6))
      ->type_name("SECONDS");
  command->footer("Examples:\n  weft plan gpt2.onnx --mesh data=2,model=2 -o plan.txtpb\n"
                  "  weft plan gpt2.onnx --mesh data=4 --shard 'input_ids=[{data},{}]'\n"
                  "  weft plan config.json --mesh data=8,model=8 --train adamw --global-batch 512 "
                  "--seq 4096 --dtype bf16\n"
                  "  weft plan config.json --cluster dgx-h100:8 --top-k 5 --time-budget 60");
  run = [options, &common] { return runPlan(*options, common); };
  return command;
}
