//===- Timeline.h - a schedule run by the simulator -------------*- C++ -*-===//
//
// Prices a schedule: every action becomes a segment of the simulator's program, every rank a class.
// Messages take `message` seconds from the end of the action that makes them and occupy neither
// side; the action that uses one waits for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_TIMELINE_H
#define WEFT_COMPILER_SCHEDULE_TIMELINE_H

#include "compiler/Schedule/Schedule.h"
#include "compiler/Simulate/Simulator.h"

namespace weft::schedule {

/// Seconds (or any unit of time) and bytes (or any unit of memory) of one slice of a microbatch in
/// a stage. Memory is what an action adds; forwards and recomputations add at their begin, what is
/// negative goes at the action's end.
struct StageCosts {
  double forward = 1, input = 1, weight = 1;
  double forwardMemory = 1, inputMemory = 0, weightMemory = -1;
};

struct Costs {
  std::vector<StageCosts> stages; ///< at [stage * number of slices + slice]
  double message = 0;             ///< seconds between two ranks
  double work = 0;                ///< of all microbatches on a rank, without recomputation

  const StageCosts &get(const Schedule &schedule, int32_t stage, int32_t slice) const {
    return stages[static_cast<size_t>(stage) * schedule.numSlices + slice];
  }
};

/// Costs of a rank's whole part of one microbatch: of a rank with several chunks and of a
/// microbatch with several slices each takes its part.
Costs divideCosts(const StageCosts &rank, double message, const Placement &placement,
                  int32_t numMicrobatches, int32_t numSlices);

struct ActionTime {
  double begin = 0, end = 0;
};

struct Timeline {
  double makespan = 0;      ///< from time 0 to the end of the last action
  double longest = 0;       ///< of all ranks, from its first action's begin to its last one's end
  double bubble = 0;        ///< (longest - work) / longest
  std::vector<double> peak; ///< memory of each rank
  int64_t messages = 0;
  std::vector<std::vector<ActionTime>> times; ///< of each action of each rank; on request
};

/// The simulator's program of a schedule with messages. Time units become seconds.
sim::Program makeProgram(const Schedule &schedule, const Costs &costs);

/// Simulates a valid schedule with messages (validate).
Timeline runSchedule(const Schedule &schedule, const Costs &costs, bool times = false);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_TIMELINE_H
