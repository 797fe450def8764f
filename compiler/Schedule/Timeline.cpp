#include "compiler/Schedule/Timeline.h"
#include "compiler/Schedule/Lower.h"

#include <algorithm>

using namespace weft;
using namespace weft::schedule;

Costs weft::schedule::divideCosts(const StageCosts &rank, double message,
                                  const Placement &placement, int32_t numMicrobatches,
                                  int32_t numSlices) {
  // A microbatch passes every chunk of one path.
  double chunks = static_cast<double>(placement.getPathLength()) / placement.numRanks;
  double parts = chunks * numSlices;
  StageCosts part{rank.forward / parts,       rank.input / parts,       rank.weight / parts,
                  rank.forwardMemory / parts, rank.inputMemory / parts, rank.weightMemory / parts};
  Costs costs;
  costs.stages.assign(static_cast<size_t>(placement.getNumStages()) * numSlices, part);
  costs.message = message;
  costs.work = numMicrobatches * (rank.forward + rank.input + rank.weight);
  return costs;
}

namespace {

/// One instruction an action.
class CostSource : public SegmentSource {
public:
  CostSource(const Schedule &schedule, const Costs &costs) : schedule(schedule), costs(costs) {}

  std::vector<sim::Instruction> makeInstructions(const Action &action) override {
    if (!computes(action.kind))
      return {};
    sim::Instruction work;
    work.seconds = getSeconds(action);
    work.name = static_cast<int32_t>(action.kind);
    if (double change = getMemory(action); change != 0)
      (change > 0 ? work.onBegin : work.onEnd).push_back({0, change});
    return {work};
  }

  sim::Instruction makeSend(const Action &action) override {
    sim::Instruction send;
    send.op = sim::Op::Send;
    send.flight = costs.message;
    return send;
  }

private:
  double getSeconds(const Action &action) const;
  double getMemory(const Action &action) const;

  const Schedule &schedule;
  const Costs &costs;
};

double CostSource::getSeconds(const Action &action) const {
  const StageCosts &stage = costs.get(schedule, action.stage, action.slice);
  switch (action.kind) {
  case ActionKind::Forward:
    return stage.forward;
  case ActionKind::Backward:
    return stage.input + stage.weight;
  case ActionKind::BackwardInput:
    return stage.input;
  case ActionKind::BackwardWeight:
    return stage.weight;
  case ActionKind::Recompute:
    return stage.forward * schedule.getRecompute(action.stage);
  default:
    return 0;
  }
}

double CostSource::getMemory(const Action &action) const {
  const StageCosts &stage = costs.get(schedule, action.stage, action.slice);
  double again = schedule.getRecompute(action.stage);
  switch (action.kind) {
  case ActionKind::Forward:
    return stage.forwardMemory * (1 - again);
  case ActionKind::Recompute:
    return stage.forwardMemory * again;
  case ActionKind::Backward:
    return stage.inputMemory + stage.weightMemory;
  case ActionKind::BackwardInput:
    return stage.inputMemory;
  case ActionKind::BackwardWeight:
    return stage.weightMemory;
  default:
    return 0;
  }
}

sim::Program lower(const Schedule &schedule, const Costs &costs, EntryMap &entries) {
  CostSource source(schedule, costs);
  sim::Program program = lowerSchedule(schedule, source, &entries);
  program.owners = {"activations"};
  for (int kind = 0; kind < numActionKinds; ++kind)
    program.names.emplace_back(getKindName(static_cast<ActionKind>(kind)));
  return program;
}

/// Times of actions from the spans of their entries.
std::vector<std::vector<ActionTime>> readTimes(const sim::Program &program,
                                               const sim::Result &result, const EntryMap &entries) {
  std::vector<std::vector<ActionTime>> byEntry, times(entries.size());
  for (const sim::RankClass &rank : program.classes)
    byEntry.emplace_back(rank.entries.size());
  for (const sim::Span &span : result.spans)
    byEntry[span.rankClass][span.entry] = {span.begin, span.end};
  for (size_t rank = 0; rank < entries.size(); ++rank)
    for (int32_t entry : entries[rank])
      times[rank].push_back(entry < 0 ? ActionTime() : byEntry[rank][entry]);
  return times;
}

} // namespace

sim::Program weft::schedule::makeProgram(const Schedule &schedule, const Costs &costs) {
  EntryMap entries;
  return lower(schedule, costs, entries);
}

Timeline weft::schedule::runSchedule(const Schedule &schedule, const Costs &costs, bool times) {
  EntryMap entries;
  sim::Program program = lower(schedule, costs, entries);
  sim::Options options;
  options.spans = times;
  sim::Result result = sim::simulate(program, options);
  if (!result.blocked.empty())
    throw ScheduleError("the schedule deadlocks"); // checkSchedule names the actions
  Timeline timeline;
  timeline.makespan = result.seconds;
  timeline.messages = result.messages;
  for (const sim::ClassResult &rank : result.classes) {
    timeline.longest = std::max(timeline.longest, rank.end - rank.begin);
    timeline.peak.push_back(rank.memory.bytes);
  }
  if (timeline.longest > 0)
    timeline.bubble = (timeline.longest - costs.work) / timeline.longest;
  if (times)
    timeline.times = readTimes(program, result, entries);
  return timeline;
}
