//===- main.cpp - the weft driver -----------------------------------------===//

#include "runtime/Program/Executable.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Error.h"
#include "tools/weft/Command.h"
#include "tools/weft/Messages.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Usage.h"
#ifdef WEFT_WITH_COMPILER
#include "compiler/Plan/PlanText.h"
#endif

#include <fmt/format.h>
#include <list>
#include <sstream>

using namespace weft::tool;

/// More threads than this are a slip of the keyboard.
static constexpr int maxThreads = 4096;

void weft::tool::addCommon(CLI::App &command, Common &common) {
  command.add_flag(
      "--quiet", common.quiet,
      "only errors, and what was asked for: no warnings, notes, summaries or progress");
  command.add_flag("-v,--verbose", common.verbose, "say more");
  command.add_flag("--json", common.json, "print JSON instead of tables");
  command.add_option("--threads", common.threads, "threads to use (0: all cores)")
      ->check(isWithin(0, maxThreads));
}

namespace {
/// The commands of this build, in the order of --help.
const std::list<AddCommand> commands = {
#ifdef WEFT_WITH_COMPILER
    addImport,  addBlocks,    addPlan,  addCompile,  addExplain, addSimulate, addDiff,
    addCluster, addCalibrate, addSolve, addSchedule, addSlice,   addValidate, addConformance,
#endif
    addInspect, addRun,       addTrain, addVerify,
};

/// With the formats that this build reads and writes.
std::string describeVersion() {
  std::string text = fmt::format("weft {} (executable format {}", WEFT_VERSION,
                                 int(weft::program::EXECUTABLE_VERSION));
#ifdef WEFT_WITH_COMPILER
  text += fmt::format(", plan format {}", weft::planVersion);
#endif
  return text + ")";
}

using Runners = std::list<std::pair<CLI::App *, Runner>>;

int runCommand(const Runners &runners) {
  try {
    for (const auto &[command, run] : runners)
      if (command->parsed())
        return run();
    return Exit::Usage;
  } catch (const weft::runtime::Error &error) {
    return fail(static_cast<Exit>(error.getExitCode()), error.what());
  } catch (const std::bad_alloc &) {
    return fail(Exit::Failure, "out of memory");
  } catch (const std::exception &error) {
    return fail(Exit::Failure, error.what());
  }
}

int parseAndRun(int argc, char **argv) {
  CLI::App app{
      "Weft compiles a model graph into one program per device, every collective explicit."};
  app.set_version_flag("--version", describeVersion());
  app.require_subcommand(1);
  Common common;
  Runners runners;
  for (AddCommand add : commands) {
    Runner run;
    CLI::App *command = add(app, common, run);
    addCommon(*command, common);
    runners.emplace_back(command, std::move(run));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    std::ostringstream text;
    if (error.get_exit_code() == 0) { // --help, --version
      app.exit(error, text, text);
      weft::runtime::printText(text.str());
      return Exit::Ok;
    }
    weft::runtime::printError("error: {}\nsee weft --help, weft COMMAND --help\n",
                              explainUsage(app, error, {argv + 1, argv + argc}));
    return Exit::Usage;
  }
  setQuiet(common.quiet);
  return runCommand(runners);
}
} // namespace

int main(int argc, char **argv) {
  weft::runtime::openConsole();
  return weft::runtime::finishOutput(parseAndRun(argc, argv));
}
