//===- Lower.h - schedules as programs of the simulator ---------*- C++ -*-===//
//
// Every rank of a schedule becomes a class of the simulator's program, every action an entry. What
// an action consists of is said by a source: one instruction for a table of costs (Timeline.h), the
// layers and collectives of a stage for a model (compiler/Validate).
//
// Actions that run at the same time become one after the other behind the messages of all: they
// take the sum of both, and what they need is there before either begins.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_LOWER_H
#define WEFT_COMPILER_SCHEDULE_LOWER_H

#include "compiler/Schedule/Schedule.h"
#include "compiler/Simulate/Program.h"

namespace weft::schedule {

class SegmentSource {
public:
  virtual ~SegmentSource() = default;

  /// Actions of the same kind, stage and slice whose instructions differ have different variants.
  virtual int32_t getVariant(const Action &action) const { return 0; }
  /// What a rank does for any action but a message.
  virtual std::vector<sim::Instruction> makeInstructions(const Action &action) = 0;
  /// The send of a message (Op::Send; its channel is filled in), and what goes with it.
  virtual sim::Instruction makeSend(const Action &action) = 0;
};

/// For each rank and action its entry in the rank's class; -1 where it has none.
using EntryMap = std::vector<std::vector<int32_t>>;

/// Classes, channels and instances of a schedule with messages; the caller adds links, owners,
/// names and events. An action waits for its message itself: a receive of the list only says that
/// the buffer is there.
sim::Program lowerSchedule(const Schedule &schedule, SegmentSource &source,
                           EntryMap *entries = nullptr);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_LOWER_H
