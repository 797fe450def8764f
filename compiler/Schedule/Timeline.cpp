#include "compiler/Schedule/Timeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

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

/// Makes one rank's class, segment by segment as they are met.
class ClassMaker {
public:
  ClassMaker(const Schedule &schedule, const Costs &costs, sim::Program &program)
      : schedule(schedule), costs(costs), program(program), names(numActionKinds, -1) {}

  sim::RankClass make(int32_t rank, std::vector<int32_t> &entryOf);

private:
  using Key = std::vector<int32_t>;

  int32_t getChannel(bool forward, int32_t stage) const { return 2 * stage + (forward ? 0 : 1); }
  int32_t getInstance(const Action &action) const {
    return action.microbatch * schedule.numSlices + action.slice;
  }
  int32_t getName(ActionKind kind, bool joined);
  double getSeconds(const Action &action) const;
  void addMemory(const Action &action, sim::Instruction &work) const;
  sim::Instruction makeMessage(const Action &action) const;
  void addReceives(const Action &action);
  void add(const Key &key, const sim::Instruction &instruction, const Action &action);

  const Schedule &schedule;
  const Costs &costs;
  sim::Program &program;
  std::vector<int32_t> names; ///< of each kind, in the program's; -1: none yet
  int32_t joinedName = -1;
  sim::RankClass rankClass;
  std::map<Key, int32_t> segments;
};

int32_t ClassMaker::getName(ActionKind kind, bool joined) {
  int32_t &name = joined ? joinedName : names[static_cast<size_t>(kind)];
  if (name < 0) {
    name = static_cast<int32_t>(program.names.size());
    program.names.push_back(joined ? "F&B" : getKindName(kind));
  }
  return name;
}

double ClassMaker::getSeconds(const Action &action) const {
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

void ClassMaker::addMemory(const Action &action, sim::Instruction &work) const {
  const StageCosts &stage = costs.get(schedule, action.stage, action.slice);
  double again = schedule.getRecompute(action.stage), change = 0;
  if (action.kind == ActionKind::Forward)
    change = stage.forwardMemory * (1 - again);
  else if (action.kind == ActionKind::Recompute)
    change = stage.forwardMemory * again;
  if (makesGradient(action.kind))
    change += stage.inputMemory;
  if (action.kind == ActionKind::Backward || action.kind == ActionKind::BackwardWeight)
    change += stage.weightMemory;
  if (change != 0)
    (change > 0 ? work.onBegin : work.onEnd).push_back({0, change});
}

void ClassMaker::add(const Key &key, const sim::Instruction &instruction, const Action &action) {
  auto [found, added] = segments.emplace(key, static_cast<int32_t>(rankClass.segments.size()));
  if (added)
    rankClass.segments.push_back({{instruction}});
  rankClass.entries.push_back({found->second, getInstance(action)});
}

/// An action waits for its message itself: a receive of the list only says that the buffer is
/// there.
void ClassMaker::addReceives(const Action &action) {
  const Placement &placement = schedule.placement;
  bool forward = isForward(action.kind);
  if (!forward && !makesGradient(action.kind))
    return;
  int32_t edge = forward ? action.stage - 1 : action.stage;
  if ((forward && placement.isFirst(action.stage)) || !placement.crosses(edge))
    return;
  sim::Instruction wait;
  wait.op = sim::Op::Receive;
  wait.id = getChannel(forward, edge);
  add({-1, wait.id}, wait, action);
}

sim::Instruction ClassMaker::makeMessage(const Action &action) const {
  bool forward = action.kind == ActionKind::SendForward;
  sim::Instruction send;
  send.op = sim::Op::Send;
  send.id = getChannel(forward, forward ? action.stage : action.stage - 1);
  send.flight = costs.message;
  return send;
}

/// `entryOf` gets the entry of each action's work, -1 of what takes no time.
sim::RankClass ClassMaker::make(int32_t rank, std::vector<int32_t> &entryOf) {
  const std::vector<Action> &actions = schedule.ranks[rank];
  rankClass = {};
  segments.clear();
  rankClass.name = fmt::format("rank {}", rank);
  entryOf.assign(actions.size(), -1);
  for (size_t begin = 0, end = 0; begin < actions.size(); begin = end) {
    for (end = begin + 1; actions[end - 1].joined && end < actions.size();)
      ++end;
    Key key;
    sim::Instruction work;
    for (size_t i = begin; i < end; ++i) {
      const Action &action = actions[i];
      if (sends(action.kind))
        add({-2, static_cast<int32_t>(action.kind), action.stage}, makeMessage(action), action);
      if (!computes(action.kind))
        continue;
      addReceives(action);
      key.insert(key.end(), {static_cast<int32_t>(action.kind), action.stage, action.slice});
      work.seconds += getSeconds(action);
      work.name = getName(action.kind, end - begin > 1);
      addMemory(action, work);
    }
    if (key.empty())
      continue;
    add(key, work, actions[begin]);
    for (size_t i = begin; i < end; ++i)
      entryOf[i] = static_cast<int32_t>(rankClass.entries.size()) - 1;
  }
  return std::move(rankClass);
}

} // namespace

static sim::Program lower(const Schedule &schedule, const Costs &costs,
                          std::vector<std::vector<int32_t>> &entryOf) {
  sim::Program program;
  program.instances = schedule.numMicrobatches * schedule.numSlices;
  program.owners = {"activations"};
  const Placement &placement = schedule.placement;
  program.channels.resize(2 * static_cast<size_t>(placement.getNumStages()));
  for (int32_t stage = 0; stage + 1 < placement.getNumStages(); ++stage) {
    program.channels[2 * stage].receiver = placement.ranks[stage + 1];
    program.channels[2 * stage + 1].receiver = placement.ranks[stage];
  }
  ClassMaker maker(schedule, costs, program);
  entryOf.resize(schedule.ranks.size());
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    program.classes.push_back(maker.make(static_cast<int32_t>(rank), entryOf[rank]));
  return program;
}

sim::Program weft::schedule::makeProgram(const Schedule &schedule, const Costs &costs) {
  std::vector<std::vector<int32_t>> entryOf;
  return lower(schedule, costs, entryOf);
}

Timeline weft::schedule::runSchedule(const Schedule &schedule, const Costs &costs, bool times) {
  std::vector<std::vector<int32_t>> entryOf;
  sim::Program program = lower(schedule, costs, entryOf);
  sim::Options options;
  options.spans = times;
  sim::Result result = sim::simulate(program, options);
  if (!result.blocked.empty())
    throw ScheduleError("the schedule deadlocks"); // validate() names the actions
  Timeline timeline;
  timeline.makespan = result.seconds;
  timeline.messages = result.messages;
  for (const sim::ClassResult &rank : result.classes) {
    timeline.longest = std::max(timeline.longest, rank.end - rank.begin);
    timeline.peak.push_back(rank.memory.bytes);
  }
  if (timeline.longest > 0)
    timeline.bubble = (timeline.longest - costs.work) / timeline.longest;
  if (!times)
    return timeline;
  std::vector<std::vector<ActionTime>> entries;
  for (const sim::RankClass &rank : program.classes)
    entries.emplace_back(rank.entries.size());
  for (const sim::Span &span : result.spans)
    entries[span.rankClass][span.entry] = {span.begin, span.end};
  timeline.times.resize(entryOf.size());
  for (size_t rank = 0; rank < entryOf.size(); ++rank)
    for (int32_t entry : entryOf[rank])
      timeline.times[rank].push_back(entry < 0 ? ActionTime() : entries[rank][entry]);
  return timeline;
}
