//===- Inspect.cpp - weft inspect -----------------------------------------===//

#include "runtime/Inspect/InspectReport.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/Command.h"
#include "tools/weft/Json.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Output.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>

using namespace weft;
using namespace weft::tool;
using namespace weft::runtime;

namespace {

struct InspectOptions {
  std::string path, model;
  int64_t rank = 0;
  bool program = false;
};

/// The form that design fixes; `weft run --json` counts the same while running.
void printJson(const InspectReport &report) {
  nlohmann::ordered_json json;
  json["ranks"] = report.ranks;
  addMeshes(report, json);
  json["weights_bytes_whole"] = report.wholeWeightsBytes;
  json["weights_bytes"] = nlohmann::ordered_json::array();
  json["arenas"] = nlohmann::ordered_json::array();
  for (int64_t rank = 0; rank < report.ranks; ++rank) {
    const InspectReport::RankClass &rankClass = report.getClass(rank);
    json["weights_bytes"].push_back(rankClass.weightsBytes);
    json["arenas"].push_back(rankClass.arenas);
  }
  json["instructions"] = report.instructions;
  json["kernels"] = report.kernels;
  json["rank_classes"] = report.classes.size();
  json["collectives"] = nlohmann::ordered_json::array();
  for (const InspectedCollective &collective : report.collectives)
    json["collectives"].push_back(toJson(collective));
  printJsonValue(json);
}

void printSummary(const std::string &path, const InspectReport &report) {
  std::vector<std::string> meshes;
  for (const InspectReport::Mesh &mesh : report.meshes) {
    std::vector<std::string> axes;
    for (const auto &[axis, size] : mesh.axes)
      axes.push_back(fmt::format("{}={}", axis, size));
    meshes.push_back(fmt::format("{{{}}}", fmt::join(axes, ", ")));
  }
  runtime::print("{}: {} rank{} on mesh{} {}, {} rank class{}, {} kernels\n", path, report.ranks,
                 report.ranks == 1 ? "" : "s", meshes.size() == 1 ? "" : "es",
                 fmt::join(meshes, ", "), report.classes.size(),
                 report.classes.size() == 1 ? "" : "es", report.kernels);
  runtime::print("\nmemory of a rank\n");
  for (size_t number = 0; number < report.classes.size(); ++number)
    for (const auto &[kind, bytes] : report.classes[number].arenas)
      if (bytes > 0)
        runtime::print("  class {}  {:<14} {:>12}\n", number, kind, formatBytes(bytes));
  runtime::print("\ninstructions a step\n");
  for (const auto &[opcode, count] : report.instructions)
    runtime::print("  {:<12} {:>6}\n", opcode, count);
}

void printCollectives(const InspectReport &report) {
  if (report.collectives.empty()) {
    runtime::print("\ncollectives: none\n");
    return;
  }
  runtime::print("\ncollectives a step\n  {:<15} {:<14} {:<5} {:<5} {:>12} {:>6}  {}\n", "kind",
                 "axes", "op", "dtype", "bytes", "count", "caused by");
  for (const auto &[record, movesWeights] : report.collectives)
    runtime::print("  {:<15} {:<14} {:<5} {:<5} {:>12} {:>6}  {}\n", record.kind,
                   record.isTransfer() ? fmt::format("{} to {}", record.mesh, record.to)
                                       : fmt::format("{}", fmt::join(record.axes, ",")),
                   record.reduction, record.dtype, formatBytes(record.bytes), record.count,
                   record.source);
}

void printWeights(const Executable &executable, int64_t rank) {
  runtime::print("\nweights of rank {}\n  {:<40} {:<22} {:<22} {:>12}\n", rank, "name", "whole",
                 "held", "bytes");
  for (const WeightRow &row : listWeights(executable, rank))
    runtime::print("  {:<40} {:<22} {:<22} {:>12}\n", row.name, row.whole, row.held,
                   formatBytes(row.bytes));
}

/// Which part of an arena is in use over time: a row a slice of the arena, a column a group of
/// instructions.
void printArenaMaps(const Executable &executable, int64_t rank) {
  for (const ArenaMap &map : mapArenas(executable, rank)) {
    runtime::print(
        "\n{} over time: {} instructions from left to right, {} a row, highest addresses on "
        "top\n",
        map.kind, map.instructions, formatBytes(map.bytesPerRow));
    for (const std::string &row : map.rows)
      runtime::print("  |{}|\n", row);
  }
}

void printProgram(const Executable &executable, int64_t rank) {
  runtime::print("\nprogram of rank {}\n", rank);
  for (const std::string &line : listProgram(executable, rank))
    runtime::print("  {}\n", line);
}

int inspect(const InspectOptions &options, const Common &common) {
  if (isPlan(options.path)) {
#ifdef WEFT_WITH_COMPILER
    return inspectPlan(options.path, options.model, common);
#else
    return fail(Exit::BadInput,
                "'" + options.path +
                    "' is no executable, and this build, the runtime alone, reads no plans");
#endif
  }
  Executable executable = loadExecutable(options.path);
  if (options.rank < 0 || options.rank >= executable.getNumRanks())
    return fail(Exit::Usage, fmt::format("--rank {}: the executable has ranks 0 to {}",
                                         options.rank, executable.getNumRanks() - 1));
  InspectReport report = inspectExecutable(executable);
  if (common.json) {
    printJson(report);
    return Exit::Ok;
  }
  printSummary(options.path, report);
  printCollectives(report);
  printArenaMaps(executable, options.rank);
  if (options.program || common.verbose) {
    printWeights(executable, options.rank);
    printProgram(executable, options.rank);
  } else {
    runtime::print("\n--program lists the weights and instructions of a rank (--rank N)\n");
  }
  return Exit::Ok;
}

} // namespace

bool weft::tool::isPlan(const std::string &path) {
  return path == "-" || (std::filesystem::exists(path) && !std::filesystem::is_directory(path));
}

CLI::App *weft::tool::addInspect(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand(
      "inspect", "show the programs, memory, collectives and weights of an executable, or a plan");
  auto options = std::make_shared<InspectOptions>();
  command
      ->add_option("path", options->path,
                   "an executable, written by weft compile, or a plan, written by weft plan (-: "
                   "the standard input)")
      ->required()
      ->type_name("NAME.weft|PLAN");
  command->add_option("--model", options->model, "a plan's model, where it is not as the plan says")
      ->type_name("MODEL");
  command->add_option("--rank", options->rank, "the rank whose memory and program are shown")
      ->capture_default_str();
  command->add_flag("--program", options->program, "list the rank's weights and instructions");
  command->footer(
      "Examples:\n  weft inspect gpt2.weft\n  weft inspect gpt2.weft --rank 3 --program\n"
      "  weft inspect gpt2.weft --json\n  weft inspect plan.txtpb");
  run = [options, &common] { return inspect(*options, common); };
  return command;
}
