//===- StepTrace.h - when a rank did what -----------------------*- C++ -*-===//
//
// Times of the instructions of the last step, in Perfetto's and Chrome's format: a process for each
// rank, with a row for what it computes and one for what runs beside that. What is begun there
// lasts until it has been waited for. Instructions are waited for one by one, so that a traced step
// may take longer on devices that the host runs ahead of.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_STEPTRACE_H
#define WEFT_RUNTIME_EXECUTOR_STEPTRACE_H

#include "runtime/Collective/Transport.h"
#include "runtime/Program/Executable.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace weft::runtime {

class StepTrace {
public:
  using Clock = std::chrono::steady_clock;

  /// Forgets the step before; times count from here.
  void beginStep();
  /// An instruction that was enqueued at `begin` and is over, or begun beside others, now.
  void add(const program::Instruction &instruction, const char *label, Clock::time_point begin);
  /// Writes what all ranks did: called by all, with one path, done by rank 0.
  void write(const std::string &path, Transport &transport) const;

private:
  enum Row { Compute, Communication, Copies };
  struct Event {
    const program::Instruction *instruction;
    const char *label;
    Row row;
    double begin, end; ///< seconds in the step
  };

  double since(Clock::time_point time) const {
    return std::chrono::duration<double>(time - start).count();
  }

  Clock::time_point start;
  std::vector<Event> events;
  std::map<uint32_t, Event> open; ///< begun and not waited for, by token
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_STEPTRACE_H
