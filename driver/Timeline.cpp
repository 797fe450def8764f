//===- Timeline.cpp - what a step's instructions take, summed -------------===//

#include "driver/Timeline.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace weft;

/// What ranks do while they wait for others is no work; it is seen in the step's length.
static constexpr const char *waiting = "WAIT";

namespace {
/// Adds up spans of processes that each stand for so many ranks.
class Sums {
public:
  void setRanks(int64_t process, double ranks) { processes[process] = ranks; }

  void add(int64_t process, const std::string &operation, const std::string &shape, double begin,
           double duration) {
    double ranks = processes.try_emplace(process, 1).first->second;
    timeline.seconds = std::max(timeline.seconds, begin + duration);
    if (operation == waiting)
      return;
    for (Timeline::Sum *sum :
         {&timeline.operations[operation], &timeline.shapes[{operation, shape}]}) {
      sum->count += ranks;
      sum->seconds += ranks * duration;
    }
  }

  Timeline finish() {
    double ranks = 0;
    for (const auto &[process, number] : processes)
      ranks += number;
    timeline.ranks = static_cast<int64_t>(ranks);
    for (auto &[name, sum] : timeline.operations)
      sum = {sum.count / ranks, sum.seconds / ranks};
    for (auto &[name, sum] : timeline.shapes)
      sum = {sum.count / ranks, sum.seconds / ranks};
    return std::move(timeline);
  }

private:
  Timeline timeline;
  std::map<int64_t, double> processes;
};
} // namespace

Timeline weft::makeTimeline(const Simulation &simulation) {
  Sums sums;
  const sim::Program &program = simulation.program;
  for (size_t i = 0; i < program.classes.size(); ++i)
    sums.setRanks(static_cast<int64_t>(i), static_cast<double>(program.classes[i].ranks));
  for (const sim::Span &span : simulation.result.spans) {
    const sim::RankClass &rankClass = program.classes[span.rankClass];
    int32_t segment = rankClass.entries[span.entry].segment;
    int32_t name = rankClass.segments[segment].instructions[span.instruction].name;
    sums.add(span.rankClass, program.operations[name], program.shapes[name], span.begin,
             span.end - span.begin);
  }
  Timeline timeline = sums.finish();
  timeline.seconds = simulation.seconds;
  return timeline;
}

[[noreturn]] static void refuse(const std::string &path, const std::string &why) {
  runtime::throwBadInput("'{}' is no trace of weft run, train or simulate: {}", path, why);
}

/// Adds one event of the trace at `path`.
static void addEvent(const std::string &path, const nlohmann::json &event, Sums &sums) {
  const std::string phase = event.at("ph");
  if (phase == "M" && event.at("name") == "process_name")
    sums.setRanks(event.at("pid"), event.at("args").value("ranks", 1.0));
  if (phase != "X")
    return;
  std::string name = event.at("name");
  std::string operation = event.value("cat", name.substr(0, name.find(" of '")));
  std::string shape =
      event.contains("args") ? event.at("args").value("shape", std::string()) : std::string();
  double duration = event.at("dur");
  if (duration < 0)
    refuse(path, fmt::format("expected a 'dur' of at least 0, got: {}", duration));
  sums.add(event.at("pid"), operation, shape, event.at("ts").get<double>() * 1e-6, duration * 1e-6);
}

Timeline weft::readTimeline(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    runtime::throwBadInput("cannot read '{}': {}", path, std::strerror(errno));
  Sums sums;
  try {
    nlohmann::json trace = nlohmann::json::parse(file);
    for (const nlohmann::json &event : trace.at("traceEvents"))
      addEvent(path, event, sums);
  } catch (const nlohmann::json::exception &error) {
    refuse(path, error.what());
  }
  Timeline timeline = sums.finish();
  if (timeline.ranks == 0)
    runtime::throwBadInput("'{}' is a trace of nothing", path);
  return timeline;
}
