//===- VShape.cpp - zero-bubble schedules over a V ------------------------===//

#include "compiler/Schedule/Builder.h"
#include "compiler/Schedule/Pattern.h"

#include <algorithm>

using namespace weft::schedule;

using enum ActionKind;

namespace {

/// ZB-V's list of a rank: forwards until the first gradient comes back through the V, then rounds
/// of a forward, a gradient and a weight gradient of both stages; weight gradients of the last
/// microbatches wait for the end.
void writeZBV(Schedule &schedule, int32_t rank) {
  int32_t ranks = schedule.placement.numRanks;
  int32_t down = rank, up = 2 * ranks - 1 - rank;
  ListBuilder list(schedule, rank);
  auto addBoth = [&](int32_t stage) {
    list.add(BackwardInput, stage);
    list.add(BackwardWeight, stage);
  };
  for (int32_t i = 0; i < 2 * (ranks - rank) - 1; ++i)
    list.add(Forward, down);
  for (int32_t i = 0; i < rank; ++i) {
    list.add(Forward, up);
    list.add(Forward, down);
  }
  for (int32_t i = 0; i < ranks - rank; ++i) {
    list.add(Forward, up);
    addBoth(up);
  }
  while (list.has(Forward, up)) {
    list.add(Forward, down);
    addBoth(down);
    list.add(Forward, up);
    addBoth(up);
  }
  for (int32_t i = 0; i < rank; ++i) {
    list.add(BackwardInput, down);
    list.add(BackwardInput, up);
  }
  while (list.has(BackwardInput, down))
    addBoth(down);
  while (list.add(BackwardWeight, up))
    ;
  while (list.add(BackwardWeight, down))
    ;
}

} // namespace

Schedule weft::schedule::makeVHalf(const Spec &spec) { return makeBestPattern(spec, "v-half", 6); }

Schedule weft::schedule::makeVMin(const Spec &spec) { return makeBestPattern(spec, "v-min", 4); }

/// The list is one of at least 2p-1 microbatches; of fewer it is what is left without the others.
static Schedule makeWholeZBV(const Spec &spec) {
  Spec whole = spec;
  whole.microbatches = std::max(spec.microbatches, 2 * spec.ranks - 1);
  Schedule schedule = startSchedule(whole, "zb-v", placeV(spec.ranks, 2), 2);
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    writeZBV(schedule, rank);
    std::erase_if(schedule.ranks[rank],
                  [&](const Action &action) { return action.microbatch >= spec.microbatches; });
  }
  schedule.numMicrobatches = spec.microbatches;
  return schedule;
}

/// With the memory of 1F1B, or as much of it as the limit lets it have: a half or a third.
Schedule weft::schedule::makeZBV(const Spec &spec) {
  Schedule whole = makeWholeZBV(spec);
  if (!spec.limit)
    return whole;
  Costs costs = divideCosts(spec.costs, spec.message, whole.placement, spec.microbatches, 1);
  OrderProblem problem(whole.placement, spec.microbatches, costs, *spec.limit);
  auto fits = [&](const Schedule &schedule) {
    Order order = makeOrder(problem, schedule);
    return std::all_of(order.begin(), order.end(),
                       [&](const auto &list) { return fitsMemory(problem, list); });
  };
  if (fits(whole))
    return whole;
  for (int32_t sum : {6, 4})
    if (Schedule less = makeBestPattern(spec, "zb-v", sum); fits(less))
      return less;
  return whole;
}
