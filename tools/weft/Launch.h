//===- Launch.h - running an executable on the chosen transport -*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_LAUNCH_H
#define WEFT_TOOLS_WEFT_LAUNCH_H

#include "runtime/Executor/Run.h"
#include "tools/weft/Command.h"

namespace weft::tool {

/// What commands that run an executable have in common.
struct LaunchOptions {
  std::string executable;
  std::string transport; ///< empty: mpi where a launcher started several processes, else local
  runtime::RunOptions run;
};

/// Adds the executable, --transport, --timeout and --weights-dir.
void addLaunchOptions(CLI::App &command, LaunchOptions &options);

using Teller = std::function<void(const runtime::RunReport &)>;

/// Runs and has rank 0 tell what came of it; none where it failed and the ranks have agreed on
/// that, `code` being the exit code. Ends the process where it failed otherwise: a rank's thread
/// may hang, nothing it uses may be torn down.
std::optional<runtime::RunReport> launch(LaunchOptions &options, const Common &common, int &code,
                                         const Teller &tell);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_LAUNCH_H
