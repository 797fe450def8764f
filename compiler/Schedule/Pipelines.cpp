#include "compiler/Schedule/Pipelines.h"

#include "compiler/Schedule/Named.h"

#include <algorithm>
#include <fmt/format.h>

using namespace weft::schedule;

static constexpr const char *defaultName = "1f1b";

const std::vector<std::string> &weft::schedule::listPipelines() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{defaultName};
    for (const NamedSchedule &each : listNamedSchedules())
      if (each.isOfPrograms && each.name != all.front())
        all.emplace_back(each.name);
    return all;
  }();
  return names;
}

static const NamedSchedule &find(const std::string &name) {
  return *findNamedSchedule(name.empty() ? defaultName : name);
}

std::string weft::schedule::checkPipelineName(const std::string &name) {
  const std::vector<std::string> &known = listPipelines();
  if (name.empty() || std::find(known.begin(), known.end(), name) != known.end())
    return "";
  return fmt::format("programs are made for {}, got: schedule '{}' of stages (of others `weft "
                     "schedule` tells what they would take)",
                     fmt::join(known, ", "), name);
}

/// In a loop there may be any number.
std::string weft::schedule::checkChunks(const std::string &name, int32_t chunks) {
  const NamedSchedule &schedule = find(name);
  bool fits =
      schedule.chunks > 1 && schedule.place == placeLoop ? chunks > 1 : chunks == schedule.chunks;
  if (fits)
    return "";
  return fmt::format("schedule {} has {} stage{} on each mesh, got: {}", schedule.name,
                     schedule.chunks > 1 && schedule.place == placeLoop
                         ? "two or more"
                         : fmt::to_string(schedule.chunks),
                     schedule.chunks > 1 ? "s" : "", chunks);
}

int32_t weft::schedule::getUsualChunks(const std::string &name) { return find(name).chunks; }

std::optional<Schedule> weft::schedule::makePipeline(const Pipeline &pipeline,
                                                     std::string &problem) {
  Spec spec;
  spec.ranks = pipeline.ranks;
  spec.microbatches = pipeline.microbatches;
  spec.chunks = pipeline.chunks;
  spec.slices = pipeline.slices;
  try {
    return find(pipeline.name).make(spec);
  } catch (const ScheduleError &error) {
    problem = error.what();
    return std::nullopt;
  }
}

std::vector<Waiting> weft::schedule::countWaiting(const Schedule &schedule) {
  std::vector<Waiting> most(schedule.placement.getNumStages()), now = most;
  for (const std::vector<Action> &list : schedule.ranks)
    for (const Action &action : list) {
      Waiting &counts = now[action.stage], &largest = most[action.stage];
      if (isForward(action.kind)) {
        largest.kept = std::max(largest.kept, ++counts.kept);
      } else if (action.kind == ActionKind::Backward) {
        --counts.kept;
      } else if (action.kind == ActionKind::BackwardInput) {
        largest.putOff = std::max(largest.putOff, ++counts.putOff);
      } else if (action.kind == ActionKind::BackwardWeight) {
        --counts.kept;
        --counts.putOff;
      }
    }
  return most;
}

Placement weft::schedule::placePipeline(const std::string &name, int32_t ranks, int32_t chunks) {
  return find(name).place(ranks, chunks);
}

bool weft::schedule::putsOffWeights(const std::string &name) { return find(name).splitsBackward; }
