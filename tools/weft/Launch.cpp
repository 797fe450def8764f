//===- Launch.cpp - running an executable on the chosen transport ---------===//

#include "tools/weft/Launch.h"
#include "tools/weft/NumberChecks.h"

#include "runtime/Collective/Module.h"
#include "runtime/Executor/Agree.h"
#include "runtime/Support/Console.h"

#include <cstdlib>

using namespace weft::runtime;

namespace weft::tool {

void addLaunchOptions(CLI::App &command, LaunchOptions &options) {
  command.add_option("executable", options.executable, "NAME.weft, written by weft compile")
      ->required();
  command
      .add_option("--transport", options.transport,
                  "how ranks reach each other (default: mpi where a launcher started several "
                  "processes, else local)")
      ->check(CLI::IsMember({"local", "mpi"}));
  command
      .add_option("--timeout", options.run.limits.stepSeconds,
                  "end the run where a step takes longer, in seconds (0: no bound)")
      ->check(isAtLeast(0));
  command.add_option("--trace", options.run.trace,
                     "file for the times of the last step's instructions, for Perfetto");
  command.add_option("--weights-dir", options.run.weightsDir,
                     "folder of the model's weight files, where they were moved, and of "
                     ".safetensors files of other values under the weights' names");
}

static RunReport runOn(const LaunchOptions &options, const Teller &tell) {
  int64_t launched = getNumLaunched();
  std::string transport = options.transport;
  if (transport.empty())
    transport = launched > 1 ? "mpi" : "local";
  if (transport == "mpi")
    return runMpi(options.executable, options.run, tell);
  if (launched > 1)
    throw Error(ErrorKind::Usage,
                fmt::format("a launcher started {} processes, each would run all ranks over the "
                            "local transport; use --transport mpi or start one",
                            launched));
  RunReport report =
      runLocal(std::make_shared<Executable>(loadExecutable(options.executable)), options.run);
  tell(report);
  return report;
}

std::optional<RunReport> launch(LaunchOptions &options, const Common &common, int &code,
                                const Teller &tell) {
  options.run.threads = common.threads;
  if (const char *device = std::getenv("WEFT_DEVICE"))
    options.run.device = device;
  try {
    return runOn(options, [&](const RunReport &report) {
      if (report.rank != 0)
        return;
      tell(report);
      flushOutput();
    });
  } catch (const AgreedError &error) { // told by rank 0
    code = error.getExitCode();
    return std::nullopt;
  } catch (const Error &error) {
    printError("weft: {}\n", error.what());
    std::_Exit(error.getExitCode());
  }
}

} // namespace weft::tool
