//===- StepLog.h - one line of JSON a step ----------------------*- C++ -*-===//
//
// A run that continues another's keeps the lines of the steps before it and drops the others, which
// are done again: no step is there twice. Where lines are missing, or another log is begun, a line
// {"resumed_at":S,"after":N} says that there is a gap behind step N (null: from the start).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_STEPLOG_H
#define WEFT_RUNTIME_EXECUTOR_STEPLOG_H

#include "runtime/Support/File.h"
#include "runtime/Support/OutputFile.h"

#include <optional>

namespace weft::runtime {

class StepLog {
public:
  /// A log of the steps from `firstStep` on; kind BadInput where it cannot be written.
  StepLog(const std::string &path, int64_t firstStep);

  /// Adds a line, which others see at once.
  void add(const std::string &line);
  /// Forces what was added onto the disk; by any thread.
  void sync();

private:
  OutputPlace place;
  File file;
  uint64_t end = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_STEPLOG_H
