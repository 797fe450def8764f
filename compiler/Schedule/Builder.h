//===- Builder.h - lists of one rank, written in order ----------*- C++ -*-===//

#ifndef WEFT_COMPILER_SCHEDULE_BUILDER_H
#define WEFT_COMPILER_SCHEDULE_BUILDER_H

#include "compiler/Schedule/Named.h"
#include <map>

namespace weft::schedule {

/// Checks what every schedule needs of `spec` and makes one without actions. Throws ScheduleError
/// where chunks or slices are asked for that the schedule does not have.
Schedule startSchedule(const Spec &spec, const char *name, Placement placement, int32_t chunks,
                       bool slices = false);

/// Writes a rank's list where every stage's forwards, gradients and weight gradients come in the
/// order of microbatches (and slices: gradients of a microbatch from the last slice to the first).
class ListBuilder {
public:
  ListBuilder(Schedule &schedule, int32_t rank)
      : schedule(schedule), list(schedule.ranks[rank]), done(schedule.placement.getNumStages()) {}

  /// Forwards, full backwards, input or weight gradients of a stage that are left to write.
  int32_t getLeft(ActionKind kind, int32_t stage) const;
  bool has(ActionKind kind, int32_t stage) const { return getLeft(kind, stage) > 0; }
  /// Adds the next one of a kind, if one is left (of W: if its I is written).
  bool add(ActionKind kind, int32_t stage);
  /// Adds the next forward of a stage and the next full backward of another, at the same time.
  void addJoined(int32_t forward, int32_t backward);

private:
  struct Done {
    int32_t forward = 0, input = 0, weight = 0; ///< of the stage's units
  };
  int32_t getTotal(int32_t stage) const;
  Action getUnit(ActionKind kind, int32_t stage, int32_t index) const;

  Schedule &schedule;
  std::vector<Action> &list;
  std::vector<Done> done; ///< by stage
};

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_BUILDER_H
