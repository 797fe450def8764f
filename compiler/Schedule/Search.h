//===- Search.h - the best schedule for given costs -------------*- C++ -*-===//
//
// Starts from every named schedule that fits the memory limit, from orders of list scheduling under
// many policies, and from patterns over a V; improves the best of each placement by local search;
// and takes what the simulator says is best. Never worse, in makespan, than a named schedule with
// the same costs, chunks and limit.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_SEARCH_H
#define WEFT_COMPILER_SCHEDULE_SEARCH_H

#include "compiler/Schedule/Named.h"

namespace weft::schedule {

/// A schedule with messages, and its times. The same spec gives the same answer; a few seconds at
/// most whatever the size. Throws ScheduleError if the limit lets no microbatch through.
struct Searched {
  Schedule schedule;
  Timeline timeline;
};
Searched searchSchedule(const Spec &spec);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_SEARCH_H
