//===- Phases.h - the phases of a command, timed and shown ------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PHASES_H
#define WEFT_TOOLS_WEFT_PHASES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/weft/Command.h"

#include <functional>
#include <utility>
#include <vector>

namespace weft::tool {

struct PhaseOptions {
  bool timing = false;
  std::vector<std::string> dumpAfter;
};
/// Adds --timing and --dump-ir-after, which takes one of `phases`.
void addPhaseOptions(CLI::App &command, PhaseOptions &options,
                     const std::vector<std::string> &phases);

/// Runs phases one after another: shows the present one on a terminal, times each, and prints the
/// IR behind those asked for, to stderr.
class Phases {
public:
  Phases(const PhaseOptions &options, const Common &common);
  ~Phases();

  /// Runs one phase; its value is the exit code of `work`. The IR is that of `module` afterwards.
  int run(const std::string &phase, const mlir::OwningOpRef<mlir::ModuleOp> &module,
          const std::function<int()> &work);

  /// The table of --timing (and of -v), to stderr.
  void printTiming() const;

private:
  void clearProgress() const;

  const PhaseOptions &options;
  bool showsProgress, showsTiming;
  std::vector<std::pair<std::string, double>> seconds;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PHASES_H
