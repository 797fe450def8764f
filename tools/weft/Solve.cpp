//===- Solve.cpp - weft solve ---------------------------------------------===//

#include "compiler/Search/Solver/Solver.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Command.h"
#include "tools/weft/Messages.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>

using namespace weft::solver;
using namespace weft::tool;

namespace {

struct SolveOptions {
  std::string path;
  double timeLimit = 60;
  uint64_t seed = 1;
  int64_t iterations = 0;
};

void printProgress(const Progress &progress) {
  weft::runtime::print("# cost {} lower_bound {} gap {:.4f}% time {:.2f}\n", *progress.cost,
                       progress.lowerBound, 100 * progress.gap(), progress.seconds);
  weft::runtime::flushOutput();
  if (weft::runtime::isOutputLost()) // nobody is left to take the answer
    std::_Exit(weft::runtime::finishOutput(Exit::Ok));
}

void printResult(const Result &result, const Common &common) {
  if (!common.json)
    return weft::runtime::print("[{}]\n", fmt::join(result.answer, ", "));
  nlohmann::ordered_json json = {{"cost", *result.progress.cost},
                                 {"lower_bound", result.progress.lowerBound},
                                 {"optimal", result.status == Status::Optimal},
                                 {"seconds", result.progress.seconds},
                                 {"strategies", result.answer}};
  printJsonValue(json, -1);
}

int refuse(const SolveOptions &options, Exit code, const std::string &message) {
  return fail(code, options.path + ": " + message);
}

int runSolve(const SolveOptions &command, const Common &common) {
  Options options;
  options.timeLimit = command.timeLimit;
  options.threads = common.threads ? common.threads : int(std::thread::hardware_concurrency());
  options.seed = command.seed;
  options.iterations = command.iterations;
  if (!common.quiet && !common.json)
    options.report = printProgress;
  try {
    Instance instance = readInstance(command.path);
    Result result = solve(instance, options);
    if (result.status == Status::Infeasible)
      return refuse(command, Exit::Infeasible, "no choice of strategies is allowed and fits");
    if (result.status == Status::Unknown)
      return refuse(command, Exit::TimeLimit,
                    fmt::format("no answer found in {:.1f} s, nor a proof that there is none; "
                                "allow more with --time-limit",
                                result.progress.seconds));
    printResult(result, common);
    return Exit::Ok;
  } catch (const InstanceError &error) {
    return refuse(command, Exit::BadInput, error.what());
  } catch (const std::bad_alloc &) {
    return refuse(command, Exit::BadInput, "the instance does not fit in memory");
  }
}

} // namespace

CLI::App *weft::tool::addSolve(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command = app.add_subcommand("solve", "choose strategies on a strategy graph");
  auto options = std::make_shared<SolveOptions>();
  command->add_option("instance", options->path, "a problem in the form of the IOPDDL contest")
      ->required()
      ->type_name("INSTANCE.json[.gz]");
  command->add_option("--time-limit", options->timeLimit, "seconds, reading included")
      ->check(isAbove(0))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the random draws")->capture_default_str();
  command
      ->add_option("--iterations", options->iterations,
                   "rounds of fixed work: the same answer for the same seed (0: rounds are timed)")
      ->check(isAtLeast(0));
  command->footer(
      "Prints better answers as they are found, and the answer last: one strategy a node.\n"
      "Exit code 4: proved that there is none; 7: none found in time.\n\n"
      "Example:\n  weft solve K.json.gz --time-limit 60 --threads 2");
  run = [options, &common] { return runSolve(*options, common); };
  return command;
}
