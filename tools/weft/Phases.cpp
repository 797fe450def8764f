#include "tools/weft/Phases.h"

#include "runtime/Support/Console.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

void weft::tool::addPhaseOptions(CLI::App &command, PhaseOptions &options) {
  std::vector<llvm::StringRef> listed = listPhases();
  std::vector<std::string> phases(listed.begin(), listed.end());
  command.add_flag("--timing", options.timing, "print how long each phase took");
  command
      .add_option("--dump-ir-after", options.dumpAfter,
                  "print the module after a phase (repeatable)")
      ->check(CLI::IsMember(phases))
      ->allow_extra_args(false)
      ->type_name("PHASE");
}

Phases::Phases(const PhaseOptions &options, const Common &common)
    : options(options), showsProgress(!common.quiet && isatty(STDERR_FILENO) != 0),
      showsTiming(options.timing || common.verbose) {}

Phases::~Phases() { clearProgress(); }

void Phases::clearProgress() const {
  if (showsProgress)
    runtime::printErrorText("\r\x1b[K");
}

void Phases::begin(llvm::StringRef phase) {
  clearProgress();
  if (showsProgress)
    runtime::printError("{} …", phase.str());
  started = std::chrono::steady_clock::now();
}

void Phases::end(llvm::StringRef phase, mlir::ModuleOp module) {
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  seconds.emplace_back(phase, took.count());
  clearProgress();
  if (!module || !llvm::is_contained(options.dumpAfter, phase))
    return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  runtime::printError("// after {}\n{}\n", phase.str(), text);
}

void Phases::printTiming() const {
  if (!showsTiming)
    return;
  double total = 0;
  for (const auto &[phase, time] : seconds)
    total += time;
  for (const auto &[phase, time] : seconds)
    runtime::printError("{:<10} {:8.3f} s  {:5.1f} %\n", phase, time,
                        total > 0 ? 100 * time / total : 0);
  runtime::printError("{:<10} {:8.3f} s\n", "total", total);
}
