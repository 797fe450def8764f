#include "compiler/Schedule/Lower.h"

#include <array>
#include <fmt/format.h>
#include <map>

using namespace weft;
using namespace weft::schedule;

namespace {

/// Makes one rank's class, segment by segment as they are met.
class ClassMaker {
public:
  ClassMaker(const Schedule &schedule, SegmentSource &source, int32_t rank)
      : schedule(schedule), source(source), actions(schedule.ranks[rank]) {
    rankClass.name = fmt::format("rank {}", rank);
  }

  sim::RankClass make(std::vector<int32_t> &entryOf);

private:
  /// Kind, stage, slice and variant; -1 for waiting, with the channel.
  using Key = std::array<int32_t, 4>;

  int32_t getInstance(const Action &action) const {
    return action.microbatch * schedule.numSlices + action.slice;
  }
  void addReceive(const Action &action);
  void addWork(const Action &action);
  template <typename Make> void add(const Key &key, const Action &action, Make make);

  const Schedule &schedule;
  SegmentSource &source;
  const std::vector<Action> &actions;
  sim::RankClass rankClass;
  std::map<Key, int32_t> segments;
};

int32_t getChannel(bool forward, int32_t edge) { return 2 * edge + (forward ? 0 : 1); }

template <typename Make> void ClassMaker::add(const Key &key, const Action &action, Make make) {
  auto [found, added] = segments.emplace(key, static_cast<int32_t>(rankClass.segments.size()));
  if (added)
    rankClass.segments.push_back({make()});
  rankClass.entries.push_back({found->second, getInstance(action)});
}

void ClassMaker::addReceive(const Action &action) {
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
  add({-1, wait.id, 0, 0}, action, [&] { return std::vector{wait}; });
}

void ClassMaker::addWork(const Action &action) {
  Key key{static_cast<int32_t>(action.kind), action.stage, action.slice, source.getVariant(action)};
  if (!sends(action.kind))
    return add(key, action, [&] { return source.makeInstructions(action); });
  bool forward = action.kind == ActionKind::SendForward;
  add(key, action, [&] {
    sim::Instruction send = source.makeSend(action);
    send.id = getChannel(forward, forward ? action.stage : action.stage - 1);
    return std::vector{send};
  });
}

sim::RankClass ClassMaker::make(std::vector<int32_t> &entryOf) {
  entryOf.assign(actions.size(), -1);
  for (size_t begin = 0, end = 0; begin < actions.size(); begin = end) {
    for (end = begin + 1; actions[end - 1].joined && end < actions.size();)
      ++end;
    for (size_t i = begin; i < end; ++i)
      addReceive(actions[i]);
    for (size_t i = begin; i < end; ++i) {
      if (receives(actions[i].kind))
        continue;
      addWork(actions[i]);
      entryOf[i] = static_cast<int32_t>(rankClass.entries.size()) - 1;
    }
  }
  return std::move(rankClass);
}

} // namespace

sim::Program weft::schedule::lowerSchedule(const Schedule &schedule, SegmentSource &source,
                                           EntryMap *entries) {
  sim::Program program;
  program.instances = schedule.numMicrobatches * schedule.numSlices;
  const Placement &placement = schedule.placement;
  program.channels.resize(2 * static_cast<size_t>(placement.getNumStages()));
  for (int32_t stage = 0; stage + 1 < placement.getNumStages(); ++stage) {
    program.channels[getChannel(true, stage)].receiver = placement.ranks[stage + 1];
    program.channels[getChannel(false, stage)].receiver = placement.ranks[stage];
  }
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::vector<int32_t> entryOf;
    program.classes.push_back(
        ClassMaker(schedule, source, static_cast<int32_t>(rank)).make(entryOf));
    if (entries)
      entries->push_back(std::move(entryOf));
  }
  return program;
}
