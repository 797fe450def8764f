#include "compiler/Schedule/Builder.h"

#include <fmt/format.h>

using namespace weft::schedule;

Schedule weft::schedule::startSchedule(const Spec &spec, const char *name, Placement placement,
                                       int32_t chunks, bool slices) {
  if (spec.chunks && *spec.chunks != chunks)
    throw ScheduleError(fmt::format("expected {} chunk{} of schedule {}, got: {}", chunks,
                                    chunks > 1 ? "s" : "", name, *spec.chunks));
  if (spec.slices > 1 && !slices)
    throw ScheduleError(
        fmt::format("schedule {} has no token slices; gpipe and 1f1b have them", name));
  Schedule schedule;
  schedule.name = name;
  schedule.placement = std::move(placement);
  schedule.numMicrobatches = spec.microbatches;
  schedule.numSlices = spec.slices;
  schedule.ranks.resize(spec.ranks);
  return schedule;
}

int32_t ListBuilder::getTotal(int32_t stage) const {
  return schedule.numMicrobatches / schedule.placement.numPaths * schedule.numSlices;
}

int32_t ListBuilder::getLeft(ActionKind kind, int32_t stage) const {
  const Done &count = done[stage];
  if (kind == ActionKind::Forward)
    return getTotal(stage) - count.forward;
  if (kind == ActionKind::BackwardWeight)
    return count.input - count.weight;
  return getTotal(stage) - count.input;
}

Action ListBuilder::getUnit(ActionKind kind, int32_t stage, int32_t index) const {
  int32_t path = stage / schedule.placement.getPathLength();
  int32_t slice = index % schedule.numSlices;
  if (kind != ActionKind::Forward)
    slice = schedule.numSlices - 1 - slice;
  return {kind, false, stage,
          path * (schedule.numMicrobatches / schedule.placement.numPaths) +
              index / schedule.numSlices,
          slice};
}

bool ListBuilder::add(ActionKind kind, int32_t stage) {
  if (!has(kind, stage))
    return false;
  Done &count = done[stage];
  switch (kind) {
  case ActionKind::Forward:
    list.push_back(getUnit(kind, stage, count.forward++));
    break;
  case ActionKind::BackwardWeight:
    list.push_back(getUnit(kind, stage, count.weight++));
    break;
  case ActionKind::Recompute: // of the unit whose gradient comes next
    list.push_back(getUnit(kind, stage, count.input));
    break;
  case ActionKind::Backward:
    ++count.weight;
    [[fallthrough]];
  default:
    list.push_back(getUnit(kind, stage, count.input++));
  }
  return true;
}

void ListBuilder::addJoined(int32_t forward, int32_t backward) {
  bool joined = has(ActionKind::Forward, forward) && has(ActionKind::Backward, backward);
  if (add(ActionKind::Forward, forward) && joined)
    list.back().joined = true;
  add(ActionKind::Backward, backward);
}
