//===- Diff.cpp - weft diff -----------------------------------------------===//

#include "compiler/Plan/PlanText.h"
#include "driver/PlanDifference.h"
#include "driver/Planning.h"
#include "driver/Timeline.h"
#include "runtime/Program/Executable.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Command.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Output.h"
#include "tools/weft/SimulationInput.h"

#include <filesystem>
#include <fmt/format.h>
#include <set>

using namespace weft;
using namespace weft::tool;

namespace {

struct DiffOptions {
  std::array<std::string, 2> paths;
  std::string cluster, model;
};

/// One of the two things that are compared.
struct Side {
  std::optional<plan::Plan> plan; ///< of plans and executables
  std::optional<Timeline> timeline;
};
using Sides = std::array<Side, 2>;

bool isTrace(const std::string &path) { return path.ends_with(".json"); }

/// A plan's timeline is simulated where its model is at hand.
Outcome readPlanSide(mlir::MLIRContext &context, const DiffOptions &options,
                     const std::string &path, const cluster::Cluster &cluster, Side &side) {
  std::string problem;
  side.plan = readPlan(path, problem);
  if (!side.plan)
    return fail(context, ErrorKind::BadInput, problem);
  if (options.model.empty() && findModel(*side.plan, path).empty()) {
    note("'" + path + "' is not simulated: its model is not there; --model names it");
    return Outcome::success();
  }
  Result<Simulation> simulation = simulatePath(context, path, options.model, cluster);
  if (!simulation.failed())
    side.timeline = makeTimeline(*simulation);
  return simulation.getOutcome();
}

Outcome readSide(mlir::MLIRContext &context, const DiffOptions &options, const std::string &path,
                 const cluster::Cluster &cluster, Side &side) {
  if (isTrace(path)) {
    side.timeline = readTimeline(path);
    return Outcome::success();
  }
  if (isPlan(path))
    return readPlanSide(context, options, path, cluster, side);
  runtime::Executable executable = runtime::loadExecutable(path);
  side.plan = executable.proto.plan();
  side.timeline = makeTimeline(simulateExecutable(executable.proto, cluster));
  return Outcome::success();
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// 0 where there is none.
double divide(double first, double second) { return second > 0 ? first / second : 0; }

/// One line: what both take.
struct TimeRow {
  std::string name, shape;
  Timeline::Sum first, second;

  double getRatio() const { return divide(first.seconds, second.seconds); }
};

template <typename Sums, typename MakeRow>
std::vector<TimeRow> joinRows(const Sums &first, const Sums &second, MakeRow makeRow) {
  Sums whole = first;
  whole.insert(second.begin(), second.end());
  std::vector<TimeRow> rows;
  for (const auto &[key, sum] : whole) {
    TimeRow row = makeRow(key);
    if (auto found = first.find(key); found != first.end())
      row.first = found->second;
    if (auto found = second.find(key); found != second.end())
      row.second = found->second;
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const TimeRow &a, const TimeRow &b) {
    double x = std::max(a.first.seconds, a.second.seconds);
    double y = std::max(b.first.seconds, b.second.seconds);
    return std::tie(y, a.name, a.shape) < std::tie(x, b.name, b.shape);
  });
  return rows;
}

std::vector<TimeRow> joinOperations(const Timeline &first, const Timeline &second) {
  return joinRows(first.operations, second.operations,
                  [](const std::string &name) { return TimeRow{name, "", {}, {}}; });
}

std::vector<TimeRow> joinShapes(const Timeline &first, const Timeline &second) {
  return joinRows(first.shapes, second.shapes,
                  [](const auto &key) { return TimeRow{key.first, key.second, {}, {}}; });
}

std::string formatRatio(double ratio) { return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-"; }

void printRows(const std::vector<TimeRow> &rows, size_t most) {
  for (size_t i = 0; i < std::min(most, rows.size()); ++i)
    runtime::print("  {:<44} {:>8.0f} {:>12.3f} {:>8.0f} {:>12.3f} {:>7}\n",
                   rows[i].name + (rows[i].shape.empty() ? "" : "  " + rows[i].shape),
                   rows[i].first.count, 1e3 * rows[i].first.seconds, rows[i].second.count,
                   1e3 * rows[i].second.seconds, formatRatio(rows[i].getRatio()));
}

void printTimes(const Timeline &first, const Timeline &second, bool verbose) {
  runtime::print("step of {:.3f} ms, and of {:.3f} ms: {} times\n\n", 1e3 * first.seconds,
                 1e3 * second.seconds, formatRatio(divide(first.seconds, second.seconds)));
  runtime::print("  {:<44} {:>8} {:>12} {:>8} {:>12} {:>7}\n", "mean of the ranks", "first", "ms",
                 "second", "ms", "ratio");
  printRows(joinOperations(first, second), SIZE_MAX);
  if (!verbose)
    return;
  runtime::printText("\n");
  printRows(joinShapes(first, second), 60);
}

nlohmann::ordered_json toJson(const std::vector<TimeRow> &rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const TimeRow &row : rows) {
    json.push_back({{"name", row.name}});
    if (!row.shape.empty())
      json.back()["shape"] = row.shape;
    json.back()["count"] = {row.first.count, row.second.count};
    json.back()["seconds"] = {row.first.seconds, row.second.seconds};
    json.back()["ratio"] =
        row.getRatio() > 0 ? nlohmann::ordered_json(row.getRatio()) : nlohmann::ordered_json();
  }
  return json;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

void printDifferences(const std::string &title, const std::vector<Difference> &differences) {
  if (differences.empty())
    return;
  size_t width = 0, firstWidth = 0;
  for (const Difference &difference : differences) {
    width = std::max(width, difference.what.size());
    firstWidth = std::max(firstWidth, difference.first.size());
  }
  runtime::print("{}\n", title);
  for (const Difference &difference : differences)
    runtime::print("  {:<{}}  {:<{}}  {}\n", difference.what, width,
                   difference.first.empty() ? "-" : difference.first, firstWidth,
                   difference.second.empty() ? "-" : difference.second);
  runtime::printText("\n");
}

void printPlans(const PlanDifference &difference) {
  if (!difference.sameModel)
    runtime::printText("the plans are of different models\n\n");
  if (difference.options.empty() && difference.decisions.empty())
    runtime::printText("the plans decide the same\n\n");
  printDifferences("options", difference.options);
  printDifferences("shardings", difference.decisions);
}

nlohmann::ordered_json toJson(const std::vector<Difference> &differences) {
  auto orNull = [](const std::string &text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Difference &difference : differences)
    json.push_back({{"what", difference.what},
                    {"first", orNull(difference.first)},
                    {"second", orNull(difference.second)}});
  return json;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

void printJson(const Sides &sides) {
  nlohmann::ordered_json json;
  if (sides[0].plan && sides[1].plan) {
    PlanDifference difference = comparePlans(*sides[0].plan, *sides[1].plan);
    json["same_model"] = difference.sameModel;
    json["options"] = toJson(difference.options);
    json["shardings"] = toJson(difference.decisions);
  }
  json["step_seconds"] = nlohmann::ordered_json::array();
  for (const Side &side : sides)
    json["step_seconds"].push_back(side.timeline ? nlohmann::ordered_json(side.timeline->seconds)
                                                 : nlohmann::ordered_json());
  if (sides[0].timeline && sides[1].timeline) {
    json["operations"] = toJson(joinOperations(*sides[0].timeline, *sides[1].timeline));
    json["shapes"] = toJson(joinShapes(*sides[0].timeline, *sides[1].timeline));
  }
  printJsonValue(json);
}

void printTable(const Sides &sides, bool verbose) {
  if (sides[0].plan && sides[1].plan)
    printPlans(comparePlans(*sides[0].plan, *sides[1].plan));
  if (sides[0].timeline && sides[1].timeline)
    return printTimes(*sides[0].timeline, *sides[1].timeline, verbose);
  for (const Side &side : sides)
    if (side.timeline)
      runtime::print("{} step of {:.3f} ms\n", &side == &sides[0] ? "first" : "second",
                     1e3 * side.timeline->seconds);
}

int diff(const DiffOptions &options, const Common &common) {
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context);
  Result<cluster::Cluster> cluster = findCluster(context, options.cluster);
  if (cluster.failed())
    return cluster.getExitCode();
  Sides sides;
  for (size_t i = 0; i < sides.size(); ++i)
    if (Outcome read = readSide(context, options, options.paths[i], *cluster, sides[i]);
        read.failed())
      return read.getExitCode();
  if (common.json)
    printJson(sides);
  else if (!common.quiet)
    printTable(sides, common.verbose);
  return Exit::Ok;
}

} // namespace

CLI::App *weft::tool::addDiff(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand(
      "diff", "set two plans, executables or traces side by side: decisions, and times");
  auto options = std::make_shared<DiffOptions>();
  for (size_t i = 0; i < options->paths.size(); ++i)
    command
        ->add_option(i == 0 ? "first" : "second", options->paths[i],
                     "an executable or a plan, which are simulated, or a trace of weft run, train "
                     "or simulate (.json)")
        ->required()
        ->type_name("NAME.weft|PLAN|TRACE.json");
  addClusterOption(*command, options->cluster);
  command->add_option("--model", options->model, "the plans' model, where it is not as they say")
      ->type_name("MODEL");
  command->footer("Ratios are the first's time over the second's; -v compares shapes too.\n\n"
                  "Examples:\n  weft diff gpt2.weft measured.json --cluster host.txtpb\n"
                  "  weft diff plan.txtpb other.txtpb --cluster dgx-a100:2");
  run = [options, &common] { return diff(*options, common); };
  return command;
}
