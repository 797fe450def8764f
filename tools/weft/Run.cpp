//===- Run.cpp - weft run -------------------------------------------------===//

#include "runtime/Support/Console.h"
#include "runtime/Support/Error.h"
#include "tools/weft/Command.h"
#include "tools/weft/Json.h"
#include "tools/weft/Launch.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"

#include <fmt/format.h>

using namespace weft::tool;
using namespace weft::runtime;

namespace {

struct Options : LaunchOptions {
  std::vector<std::string> inputs; ///< NAME=FILE
  double tolerance = 1e-4;
};

/// Smallest and median step in seconds.
std::pair<double, double> summarize(std::vector<double> seconds) {
  if (seconds.empty())
    return {0, 0};
  std::sort(seconds.begin(), seconds.end());
  size_t half = seconds.size() / 2;
  double median = seconds.size() % 2 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
  return {seconds.front(), median};
}

bool isWithin(const RunReport &report, double tolerance) {
  return std::all_of(report.comparisons.begin(), report.comparisons.end(),
                     [&](const Comparison &comparison) { return comparison.isWithin(tolerance); });
}

void printJson(const RunReport &report, double tolerance) {
  nlohmann::ordered_json json;
  auto [minimum, median] = summarize(report.stepSeconds);
  json["ranks"] = report.weightsBytes.size();
  json["transport"] = report.transport;
  json["device"] = report.device;
  json["threads_per_rank"] = report.threadsPerRank;
  json["initialise_seconds"] = report.initialiseSeconds;
  json["steps"] = report.stepSeconds.size();
  json["step_seconds"] = {{"min", minimum}, {"median", median}};
  json["weights_bytes"] = report.weightsBytes;
  json["arena_bytes"] = report.arenaBytes;
  json["copied_bytes"] = {{"to_device", nlohmann::ordered_json::array()},
                          {"to_host", nlohmann::ordered_json::array()}};
  for (const CopiedBytes &copied : report.copied) {
    json["copied_bytes"]["to_device"].push_back(copied.toDevice);
    json["copied_bytes"]["to_host"].push_back(copied.toHost);
  }
  json["peak_rss_bytes"] = report.peakRss;
  json["instructions"] = report.instructions;
  json["collectives"] = nlohmann::ordered_json::array();
  for (const CollectiveRecord &record : report.collectives)
    json["collectives"].push_back(toJson(record));
  json["outputs"] = nlohmann::ordered_json::array();
  for (const WrittenOutput &output : report.outputs)
    json["outputs"].push_back(
        {{"name", output.name}, {"dtype", output.dtype}, {"file_dtype", output.fileDtype}});
  json["expect"] = nlohmann::ordered_json::array();
  for (const Comparison &comparison : report.comparisons)
    json["expect"].push_back({{"output", comparison.name},
                              {"difference", comparison.difference},
                              {"magnitude", comparison.magnitude},
                              {"relative", comparison.getRelative()},
                              {"nonfinite_mismatches", comparison.nonfiniteMismatches},
                              {"within_tolerance", comparison.isWithin(tolerance)}});
  if (!report.comparisons.empty())
    json["tolerance"] = tolerance;
  printJsonValue(json);
}

std::string formatComparisons(const RunReport &report, double tolerance) {
  std::string text;
  for (const Comparison &comparison : report.comparisons) {
    if (!comparison.shapeFits) {
      text += fmt::format("  {:<24} differs: '{}' has another shape\n", comparison.name,
                          comparison.file);
      continue;
    }
    text += fmt::format(
        "  {:<24} {:<8} largest difference {:.3e} of magnitude {:.3e} = {:.3e}{}{}\n",
        comparison.name, comparison.isWithin(tolerance) ? "equal" : "differs",
        comparison.difference, comparison.magnitude, comparison.getRelative(),
        comparison.isWithin(tolerance) ? "" : fmt::format(" (at element {})", comparison.worst),
        comparison.nonfiniteMismatches
            ? fmt::format(", {} NaN or infinite on one side", comparison.nonfiniteMismatches)
            : "");
  }
  return text;
}

/// The instructions that took longest, summed by opcode and shape class.
void printTimes(const RunReport &report) {
  std::map<std::string, std::pair<double, int64_t>> byClass;
  double total = 0;
  for (const InstructionTime &time : report.times) {
    auto &[seconds, count] =
        byClass[time.opcode + "  " + (time.shapeClass.empty() ? time.source : time.shapeClass)];
    seconds += time.seconds;
    ++count;
    total += time.seconds;
  }
  std::vector<std::pair<std::string, std::pair<double, int64_t>>> rows(byClass.begin(),
                                                                       byClass.end());
  std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    return std::tie(b.second.first, a.first) < std::tie(a.second.first, b.first);
  });
  print("time by instruction (rank {}, all steps)\n", report.rank);
  for (size_t i = 0; i < rows.size() && i < 20; ++i)
    print("  {:5.1f} %  {:9.3f} ms  {:4} ×  {}\n", 100 * rows[i].second.first / total,
          1e3 * rows[i].second.first, rows[i].second.second, rows[i].first);
}

void printTable(const RunReport &report, const Options &options, bool verbose) {
  auto [minimum, median] = summarize(report.stepSeconds);
  print("{} rank(s) over {}, {} thread(s) each\n", report.weightsBytes.size(), report.transport,
        report.threadsPerRank);
  print("  {:<24} {:.3f} s\n", "initialise", report.initialiseSeconds);
  print("  {:<24} {:.3f} ms at least, {:.3f} ms median of {}\n", "step", 1e3 * minimum,
        1e3 * median, report.stepSeconds.size());
  for (size_t rank = 0; rank < report.weightsBytes.size() && rank < 8; ++rank)
    print("  {:<24} {:.2f} MB weights, {:.2f} MB arenas\n", fmt::format("rank {}", rank),
          1e-6 * double(report.weightsBytes[rank]), 1e-6 * double(report.arenaBytes[rank]));
  int64_t bytes = 0, count = 0;
  for (const CollectiveRecord &record : report.collectives) {
    bytes += record.bytes * record.count;
    count += record.count;
  }
  print("  {:<24} {} a step, {:.2f} MB\n", "collectives", count, 1e-6 * double(bytes));
  for (const WrittenOutput &output : report.outputs)
    if (output.fileDtype != output.dtype)
      print("  {:<24} is {}, which numpy lacks: its file holds {}\n", output.name, output.dtype,
            output.fileDtype);
  if (verbose)
    printTimes(report);
  if (!report.comparisons.empty()) {
    print("expected within {:g}\n", options.tolerance);
    printText(formatComparisons(report, options.tolerance));
  }
}

/// NAME=FILE pairs into the run's options.
void splitInputs(Options &options) {
  for (const std::string &input : options.inputs) {
    size_t equals = input.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::Usage, fmt::format("--input takes NAME=FILE.npy, got '{}'", input));
    auto [at, fresh] =
        options.run.inputs.byName.emplace(input.substr(0, equals), input.substr(equals + 1));
    if (!fresh)
      throw Error(ErrorKind::Usage, fmt::format("input '{}' is given twice", at->first));
  }
}

void tell(const RunReport &report, const Options &options, const Common &common) {
  if (common.json)
    printJson(report, options.tolerance);
  else if (!common.quiet)
    printTable(report, options, common.verbose);
  if (isWithin(report, options.tolerance))
    return;
  printError("weft: outputs differ from '{}' by more than {:g}\n", options.run.expectDir,
             options.tolerance);
  printErrorText(formatComparisons(report, options.tolerance));
}

int run(Options &options, const Common &common) {
  splitInputs(options);
  int code = Exit::Ok;
  std::optional<RunReport> report = launch(
      options, common, code, [&](const RunReport &report) { tell(report, options, common); });
  if (!report)
    return code;
  return isWithin(*report, options.tolerance) ? Exit::Ok : Exit::Mismatch;
}

} // namespace

CLI::App *weft::tool::addRun(CLI::App &app, const Common &common, Runner &runner) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "run",
      "run an executable on local threads or under mpirun\n\n"
      "  weft run gpt2.weft --input input_ids=ids.npy --output-dir out\n"
      "  weft run decoder.weft --data steps.npz --output-dir out --state-out cache.safetensors\n"
      "  mpirun -np 4 weft run gpt2.weft --input-dir inputs --expect outputs");
  addLaunchOptions(*command, *options);
  auto *input = command->add_option("--input", options->inputs, "NAME=FILE.npy: an input's file");
  auto *inputDir = command->add_option("--input-dir", options->run.inputs.folder,
                                       "folder of NAME.npy for inputs without --input");
  auto *data = command->add_option("--data", options->run.data,
                                   "a .npz file: every input's tensors stacked by step; runs one "
                                   "step for each and stacks the outputs likewise");
  data->excludes(input)->excludes(inputDir);
  command->add_option("--state-in", options->run.stateIn,
                      "a .safetensors file: the states' values before the first step (default: "
                      "the model's own)");
  command->add_option("--state-out", options->run.stateOut,
                      "a .safetensors file to write the states' values into after the last step");
  command->add_option("--output-dir", options->run.outputDir, "folder to write NAME.npy into");
  command->add_option("--expect", options->run.expectDir,
                      "folder of NAME.npy to compare outputs with; exit code 6 where they differ");
  command
      ->add_option("--tolerance", options->tolerance,
                   "largest difference over largest magnitude that --expect accepts")
      ->check(isAtLeast(0))
      ->capture_default_str();
  command
      ->add_option("--repeat", options->run.repeat,
                   "run the step so many times with the same inputs; states carry on from each to "
                   "the next")
      ->check(isAtLeast(1))
      ->capture_default_str()
      ->excludes(data);
  runner = [options, &common] { return run(*options, common); };
  return command;
}
