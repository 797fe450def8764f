//===- ScheduleReport.h - a schedule to look at -----------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_SCHEDULEREPORT_H
#define WEFT_TOOLS_WEFT_SCHEDULEREPORT_H

#include "compiler/Schedule/Timeline.h"
#include <ostream>

namespace weft::tool {

/// Prints makespan, bubble, messages and each rank's peak.
void printScheduleTable(const schedule::Schedule &schedule, const schedule::Timeline &timeline);

/// Prints the same as JSON, with every rank's actions and their times; the timeline must have them.
void printScheduleJson(const schedule::Schedule &schedule, const schedule::Timeline &timeline);

/// Simulates once more, with spans and memory, for Perfetto.
void writeScheduleTrace(std::ostream &out, const schedule::Schedule &schedule,
                        const schedule::Costs &costs);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_SCHEDULEREPORT_H
