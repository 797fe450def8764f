#ifndef WEFT_TEST_UNIT_SCHEDULE_SCHEDULES_H
#define WEFT_TEST_UNIT_SCHEDULE_SCHEDULES_H

#include "compiler/Schedule/Check.h"
#include "compiler/Schedule/Named.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace weft::schedule {

/// Times of a rank's part of a microbatch: forward, input and weight gradient, and of a message.
inline Spec makeSpec(int32_t ranks, int32_t microbatches, double forward, double input,
                     double weight, double message) {
  Spec spec;
  spec.ranks = ranks;
  spec.microbatches = microbatches;
  spec.costs.forward = forward;
  spec.costs.input = input;
  spec.costs.weight = weight;
  spec.message = message;
  return spec;
}

/// With messages, and checked.
inline Schedule makeNamed(const char *name, const Spec &spec) {
  const NamedSchedule *named = findNamedSchedule(name);
  REQUIRE(named);
  Schedule schedule = named->make(spec);
  addMessages(schedule);
  checkSchedule(schedule);
  return schedule;
}

inline Timeline run(const Schedule &schedule, const Spec &spec) {
  return runSchedule(schedule, divideCosts(spec.costs, spec.message, schedule.placement,
                                           schedule.numMicrobatches, schedule.numSlices));
}

inline Timeline runNamed(const char *name, const Spec &spec) {
  return run(makeNamed(name, spec), spec);
}

inline double getPeak(const Timeline &timeline) {
  return *std::max_element(timeline.peak.begin(), timeline.peak.end());
}

} // namespace weft::schedule

#endif // WEFT_TEST_UNIT_SCHEDULE_SCHEDULES_H
