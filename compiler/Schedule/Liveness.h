//===- Liveness.h - deadlocks of a schedule ---------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SCHEDULE_LIVENESS_H
#define WEFT_COMPILER_SCHEDULE_LIVENESS_H

#include "compiler/Schedule/Schedule.h"

namespace weft::schedule {

/// Walks the lists without times: a send waits while its edge holds `buffers` messages that are not
/// yet received, a receive until its message is sent. Throws ScheduleError naming the actions that
/// wait for each other in a circle. The schedule must be complete and ordered.
void checkLiveness(const Schedule &schedule, int32_t buffers);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_LIVENESS_H
