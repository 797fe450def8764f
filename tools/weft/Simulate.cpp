//===- Simulate.cpp - weft simulate ---------------------------------------===//

#include "compiler/Plan/PlanText.h"
#include "compiler/Simulate/Trace.h"
#include "driver/Planning.h"
#include "driver/Simulation.h"
#include "runtime/Program/Executable.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/Command.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Output.h"
#include "tools/weft/SimulationInput.h"

#include <fmt/format.h>
#include <sstream>

using namespace weft;
using namespace weft::tool;

namespace {

struct SimulateOptions {
  std::string path, model, cluster, trace;
};

/// Owners that are listed, of each rank class.
constexpr size_t numOwners = 20;

constexpr std::array<const char *, sim::numStreams> streamKeys = {
    "compute", "collective", "point_to_point", "copy", "copy_back"};

nlohmann::ordered_json toJson(const std::array<double, sim::numStreams> &busy) {
  nlohmann::ordered_json json;
  for (int stream = 0; stream < sim::numStreams; ++stream)
    json[streamKeys[stream]] = busy[stream];
  return json;
}

nlohmann::ordered_json toJson(const Simulation::RankClass &rankClass) {
  nlohmann::ordered_json json = {{"begin", rankClass.begin},
                                 {"end", rankClass.end},
                                 {"arenas", rankClass.arenas},
                                 {"live_bytes", rankClass.liveBytes},
                                 {"owners", nlohmann::ordered_json::array()},
                                 {"busy", toJson(rankClass.busy)}};
  for (size_t i = 0; i < std::min(numOwners, rankClass.owners.size()); ++i)
    json["owners"].push_back({{"name", rankClass.owners[i].name},
                              {"class", runtime::getArenaName(rankClass.owners[i].kind)},
                              {"bytes", rankClass.owners[i].bytes}});
  return json;
}

void printJson(const Simulation &simulation) {
  nlohmann::ordered_json json = {{"cluster", simulation.cluster},
                                 {"ranks", simulation.ranks},
                                 {"step_seconds", simulation.seconds},
                                 {"bubble", simulation.bubble},
                                 {"peak_bytes", nlohmann::ordered_json::array()},
                                 {"busy", toJson(simulation.busy)},
                                 {"operations", nlohmann::ordered_json::array()},
                                 {"rank_classes", nlohmann::ordered_json::array()}};
  for (const OperationSeconds &operation : simulation.operations)
    json["operations"].push_back(
        {{"name", operation.name}, {"count", operation.count}, {"seconds", operation.seconds}});
  for (const Simulation::RankClass &rankClass : simulation.classes) {
    json["peak_bytes"].push_back(rankClass.peakBytes);
    json["rank_classes"].push_back(toJson(rankClass));
  }
  printJsonValue(json);
}

void printMemory(const Simulation &simulation) {
  for (size_t i = 0; i < simulation.classes.size(); ++i) {
    const Simulation::RankClass &rankClass = simulation.classes[i];
    runtime::print("\nmemory of {}: {}, of which {} at a time\n",
                   simulation.program.classes[i].name, formatBytes(rankClass.peakBytes),
                   formatBytes(rankClass.liveBytes));
    for (const auto &[kind, bytes] : rankClass.arenas)
      if (bytes > 0)
        runtime::print("  {:<14} {:>12}\n", kind, formatBytes(bytes));
    runtime::print("  held at the peak\n");
    for (size_t k = 0; k < std::min<size_t>(5, rankClass.owners.size()); ++k)
      runtime::print("    {:>12}  {:<14} {}\n", formatBytes(rankClass.owners[k].bytes),
                     runtime::getArenaName(rankClass.owners[k].kind), rankClass.owners[k].name);
  }
}

void printTable(const Simulation &simulation) {
  runtime::print("{} rank{} on {}: a step of {:.3f} ms, {:.1f} % of it without computing\n",
                 simulation.ranks, simulation.ranks == 1 ? "" : "s", simulation.cluster,
                 1e3 * simulation.seconds, 100 * simulation.bubble);
  runtime::print("\nbusy, mean of the ranks\n");
  for (int stream = 0; stream < sim::numStreams; ++stream)
    if (simulation.busy[stream] > 0)
      runtime::print("  {:<24} {:>12.3f} ms\n",
                     sim::getStreamName(static_cast<sim::Stream>(stream)),
                     1e3 * simulation.busy[stream]);
  runtime::print("\ninstructions\n");
  for (const OperationSeconds &operation : simulation.operations)
    runtime::print("  {:<24} {:>12.3f} ms  {:>6} times\n", operation.name, 1e3 * operation.seconds,
                   operation.count);
  printMemory(simulation);
}

/// The cluster that is asked for, else the one that a plan is for.
std::string chooseCluster(const SimulateOptions &options) {
  std::string problem;
  if (!options.cluster.empty() || options.path == "-" || !isPlan(options.path))
    return options.cluster;
  std::optional<plan::Plan> plan = readPlan(options.path, problem);
  return plan ? plan->cluster() : "";
}

int simulate(const SimulateOptions &options, const Common &common) {
  std::optional<runtime::OutputFile> trace;
  if (int code = openOutput("--trace", options.trace, common, trace))
    return code;
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context);
  Result<cluster::Cluster> cluster =
      findCluster(context, chooseCluster(options), /*fromFile=*/options.cluster.empty());
  if (cluster.failed())
    return cluster.getExitCode();
  Result<Simulation> simulation = simulatePath(context, options.path, options.model, *cluster);
  if (simulation.failed())
    return simulation.getExitCode();
  if (trace) {
    std::ostringstream text;
    sim::writeTrace(text, simulation->program, simulation->result);
    trace->write(text.view());
    trace->commit();
  }
  if (common.json)
    printJson(*simulation);
  else if (hasTables(trace, common))
    printTable(*simulation);
  return Exit::Ok;
}

} // namespace

CLI::App *weft::tool::addSimulate(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand(
      "simulate", "say what a step of an executable or a plan takes on a cluster, and holds");
  auto options = std::make_shared<SimulateOptions>();
  command
      ->add_option("path", options->path,
                   "an executable, written by weft compile, or a plan, written by weft plan (-: "
                   "the standard input)")
      ->required()
      ->type_name("NAME.weft|PLAN");
  addClusterOption(*command, options->cluster);
  command->add_option("--model", options->model, "a plan's model, where it is not as the plan says")
      ->type_name("MODEL");
  command
      ->add_option("--trace", options->trace,
                   "write when each instruction runs, for Perfetto, as weft run --trace does")
      ->type_name("FILE.json");
  command->footer("Examples:\n  weft simulate gpt2.weft\n"
                  "  weft simulate plan.txtpb --cluster dgx-a100:2 --trace step.json\n"
                  "  weft calibrate -o host.txtpb && weft simulate gpt2.weft --cluster host.txtpb");
  run = [options, &common] { return simulate(*options, common); };
  return command;
}
