//===- Schedule.h - walks of a program's schedule ---------------*- C++ -*-===//
//
// A schedule is a list of entries and repeats. Nothing of it is unrolled: what an entry works on in
// an iteration follows from its indices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_SCHEDULE_H
#define WEFT_RUNTIME_PROGRAM_SCHEDULE_H

#include "runtime/Program/executable.pb.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::runtime {

using ScheduleItems = google::protobuf::RepeatedPtrField<program::ScheduleItem>;

/// An index in the iterations of the repeats around it, the outermost first.
int64_t evaluate(const program::Index &index, std::span<const int64_t> iterations);

/// The same, modulo the frames of an arena.
int64_t getFrame(const program::Index &index, std::span<const int64_t> iterations, int64_t frames);

/// Bytes from one frame of an arena to the next: frames keep its alignment, a page serves every
/// vector unit and device.
inline int64_t getFrameStride(const program::Arena &arena) {
  return (arena.bytes() + 4095) / 4096 * 4096;
}

/// Whether an arena of this kind keeps what it holds from one step to the next: it has one frame.
inline bool isKept(program::ArenaKind kind) {
  return kind == program::WEIGHTS || kind == program::STATE || kind == program::HOST;
}

/// Whether an operand lies in what the device's host keeps; of an arena that is not there: no.
inline bool isOnHost(const program::Program &program, const program::Operand &operand) {
  return operand.arena() < static_cast<uint32_t>(program.arenas_size()) &&
         program.arenas(static_cast<int>(operand.arena())).kind() == program::HOST;
}

/// One execution of a segment.
struct Execution {
  const program::ScheduleEntry *entry = nullptr;
  int64_t microbatch = 0;
  int64_t tokenSlice = 0;
  std::vector<int64_t> frames; ///< by arena
};

/// Calls `visit` for each execution of a step, in order. The schedule must have no flaw.
void forEachExecution(const program::Program &program,
                      const std::function<void(const Execution &)> &visit);

/// Calls `visit` for each entry, in order, with how often a step executes it.
void forEachEntry(const program::Program &program,
                  const std::function<void(const program::ScheduleEntry &, int64_t count)> &visit);

/// All entries, in order.
std::vector<const program::ScheduleEntry *> listEntries(const program::Program &program);

/// What is wrong with the arenas' frames and the schedule; empty if nothing: segments and arenas
/// that are not there, repeats of no iteration, steps without a repeat, more frames or executions
/// than any program has.
std::string findFlaw(const program::Program &program);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_SCHEDULE_H
