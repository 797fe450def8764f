//===- main.cpp - the weft driver -----------------------------------------===//

#include "runtime/Program/Frame.h"
#include "tools/weft/Command.h"
#include "tools/weft/Usage.h"
#ifdef WEFT_WITH_COMPILER
#include "compiler/Plan/PlanText.h"
#endif

#include <fmt/format.h>
#include <list>

using namespace weft::tool;

void weft::tool::addCommon(CLI::App &command, Common &common) {
  command.add_flag("--quiet", common.quiet, "print nothing but errors");
  command.add_flag("-v,--verbose", common.verbose, "say more");
  command.add_flag("--json", common.json, "print JSON instead of tables");
  command.add_option("--threads", common.threads, "threads to use (0: all cores)")
      ->check(CLI::NonNegativeNumber);
}

namespace {
/// The commands of this build, in the order of --help.
const std::list<AddCommand> commands = {
#ifdef WEFT_WITH_COMPILER
    addImport,  addPlan, addCompile, addExplain, addCluster, addCalibrate, addSolve,
#endif
    addInspect, addRun,  addVerify,
};

/// With the formats that this build reads and writes.
std::string describeVersion() {
  std::string text =
      fmt::format("weft {} (executable format {}", WEFT_VERSION, weft::runtime::formatVersion);
#ifdef WEFT_WITH_COMPILER
  text += fmt::format(", plan format {}", weft::planVersion);
#endif
  return text + ")";
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app{
      "Weft compiles a model graph into one program per device, every collective explicit."};
  app.set_version_flag("--version", describeVersion());
  app.require_subcommand(1);
  Common common;
  std::list<std::pair<CLI::App *, Runner>> runners;
  for (AddCommand add : commands) {
    Runner run;
    CLI::App *command = add(app, common, run);
    addCommon(*command, common);
    runners.emplace_back(command, std::move(run));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error); // --help, --version
    fmt::print(stderr, "error: {}\nsee weft --help, weft COMMAND --help\n",
               explainUsage(app, error, {argv + 1, argv + argc}));
    return Exit::Usage;
  }
  for (auto &[command, run] : runners)
    if (command->parsed())
      return run();
  return Exit::Usage;
}
