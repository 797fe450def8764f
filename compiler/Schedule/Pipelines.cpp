#include "compiler/Schedule/Pipelines.h"

#include "compiler/Schedule/Named.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

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

std::vector<int32_t> weft::schedule::countInFlight(const Schedule &schedule) {
  std::vector<int32_t> most(schedule.placement.getNumStages());
  for (const std::vector<Action> &list : schedule.ranks) {
    using Pass = std::tuple<int32_t, int32_t, int32_t>;
    auto passOf = [](const Action &action) {
      return Pass(action.stage, action.microbatch, action.slice);
    };
    std::map<Pass, size_t> last; // that is done of it: with gradients of weights, if apart
    for (size_t place = 0; place < list.size(); ++place)
      if (computes(list[place].kind))
        last[passOf(list[place])] = place;
    std::vector<int32_t> now(most.size());
    for (size_t place = 0; place < list.size(); ++place) {
      const Action &action = list[place];
      if (isForward(action.kind))
        most[action.stage] = std::max(most[action.stage], ++now[action.stage]);
      if (computes(action.kind) && last[passOf(action)] == place)
        --now[action.stage];
    }
  }
  return most;
}

Placement weft::schedule::placePipeline(const std::string &name, int32_t ranks, int32_t chunks) {
  return find(name).place(ranks, chunks);
}

bool weft::schedule::putsOffWeights(const std::string &name) { return find(name).splitsBackward; }
