//===- Check.h - whether a schedule can run ---------------------*- C++ -*-===//
//
// A schedule is complete if every stage computes every slice of every microbatch of its path once:
// a forward, and a full backward or an input and a weight gradient. It is ordered if nothing on a
// rank comes before what it needs of the same rank, messages of a stage's edge are received in the
// order in which they are sent, and the optimizer's step comes last. It is live if it ends although
// an edge holds only so many messages that were sent and not yet received, in each direction.
//
// Linear in the number of actions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_CHECK_H
#define WEFT_COMPILER_SCHEDULE_CHECK_H

#include "compiler/Schedule/Schedule.h"

namespace weft::schedule {

/// Throws ScheduleError naming the first rank and action that is missing, double, out of order or
/// part of a deadlock. The schedule must have its messages.
void checkSchedule(const Schedule &schedule, int32_t buffers = 1);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_CHECK_H
