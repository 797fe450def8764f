//===- Command.h - what every weft command shares ---------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMMAND_H
#define WEFT_TOOLS_WEFT_COMMAND_H

#include "runtime/Support/Error.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace weft::tool {

/// Exit codes of the command line.
enum Exit : int {
  Ok = 0,
  Usage = static_cast<int>(runtime::ErrorKind::Usage),
  BadInput = static_cast<int>(runtime::ErrorKind::BadInput),
  Infeasible = static_cast<int>(runtime::ErrorKind::Infeasible),
  Failure = static_cast<int>(runtime::ErrorKind::Failure),
  Mismatch = static_cast<int>(runtime::ErrorKind::Mismatch),
  TimeLimit = static_cast<int>(runtime::ErrorKind::TimeLimit),
};

/// Options that every command takes.
struct Common {
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  int threads = 0; ///< 0: all cores
};

/// Declares a command: adds its options to a subcommand of `app`, and its work to `run`, which main
/// calls when the subcommand was given and whose value is the exit code.
using Runner = std::function<int()>;
using AddCommand = CLI::App *(*)(CLI::App & app, const Common &common, Runner &run);

// The commands, one file each.
CLI::App *addBlocks(CLI::App &app, const Common &common, Runner &run);
CLI::App *addCalibrate(CLI::App &app, const Common &common, Runner &run);
CLI::App *addCluster(CLI::App &app, const Common &common, Runner &run);
CLI::App *addCompile(CLI::App &app, const Common &common, Runner &run);
CLI::App *addConformance(CLI::App &app, const Common &common, Runner &run);
CLI::App *addDiff(CLI::App &app, const Common &common, Runner &run);
CLI::App *addExplain(CLI::App &app, const Common &common, Runner &run);
CLI::App *addImport(CLI::App &app, const Common &common, Runner &run);
CLI::App *addInspect(CLI::App &app, const Common &common, Runner &run);
CLI::App *addPlan(CLI::App &app, const Common &common, Runner &run);
CLI::App *addRun(CLI::App &app, const Common &common, Runner &run);
CLI::App *addSchedule(CLI::App &app, const Common &common, Runner &run);
CLI::App *addSimulate(CLI::App &app, const Common &common, Runner &run);
CLI::App *addSlice(CLI::App &app, const Common &common, Runner &run);
CLI::App *addSolve(CLI::App &app, const Common &common, Runner &run);
CLI::App *addTrain(CLI::App &app, const Common &common, Runner &run);
CLI::App *addValidate(CLI::App &app, const Common &common, Runner &run);
CLI::App *addVerify(CLI::App &app, const Common &common, Runner &run);

/// Whether it is the path of a plan: an executable is a folder; a plan may come out of a pipe.
bool isPlan(const std::string &path);

/// What `inspect` says of a plan whose model lies at `model`, or, if empty, where the plan says.
/// Returns the exit code.
int inspectPlan(const std::string &path, const std::string &model, const Common &common);

/// Adds --quiet, -v, --json and --threads to a command.
void addCommon(CLI::App &command, Common &common);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMMAND_H
