//===- Phases.h - the phases of a command, timed and shown ------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PHASES_H
#define WEFT_TOOLS_WEFT_PHASES_H

#include "driver/Compile.h"
#include "tools/weft/Command.h"

#include <chrono>
#include <utility>
#include <vector>

namespace weft::tool {

struct PhaseOptions {
  bool timing = false;
  std::vector<std::string> dumpAfter;
};
/// Adds --timing and --dump-ir-after.
void addPhaseOptions(CLI::App &command, PhaseOptions &options);

/// Shows the present phase on a terminal, times each, and prints the IR behind those asked for, to
/// stderr.
class Phases : public PhaseObserver {
public:
  Phases(const PhaseOptions &options, const Common &common);
  ~Phases() override;

  void begin(llvm::StringRef phase) override;
  void end(llvm::StringRef phase, mlir::ModuleOp module) override;

  /// The table of --timing (and of -v), to stderr.
  void printTiming() const;

private:
  void clearProgress() const;

  const PhaseOptions &options;
  bool showsProgress, showsTiming;
  std::chrono::steady_clock::time_point started;
  std::vector<std::pair<std::string, double>> seconds;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PHASES_H
