//===- Messages.cpp - sends and receives of a schedule --------------------===//
//
// Why one buffer an edge suffices: let groups of actions that run together begin at b. A rank that
// waits to send behind its group i waits for the edge's message before, which was sent at e <= b_i
// and is received by the next rank behind a group that began before e, so b_{i+1} < e <= b_i:
// around a circle of ranks begins would fall forever.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/Schedule.h"

#include <algorithm>
#include <tuple>

using namespace weft::schedule;

using enum ActionKind;

namespace {

/// Actions of a list that run at the same time: [begin, end).
struct Group {
  size_t begin = 0, end = 0;
  int32_t start = 0, finish = 0; ///< in units of time
};

/// A receive to be written, and when its message is sent.
struct Receive {
  int32_t sent = 0;
  Action action;
};

class MessageWriter {
public:
  explicit MessageWriter(Schedule &schedule)
      : schedule(schedule), placement(schedule.placement), groups(schedule.ranks.size()),
        next(schedule.ranks.size()), receives(schedule.ranks.size()) {
    size_t units = static_cast<size_t>(placement.getNumStages()) * getUnits();
    for (auto *results : {&forward, &backward})
      results->assign(units, never);
  }

  void write();
  std::vector<std::vector<int32_t>> findBegins();

private:
  static constexpr int32_t never = -1;

  size_t getUnits() const {
    return static_cast<size_t>(schedule.numMicrobatches) * schedule.numSlices;
  }
  int32_t &at(std::vector<int32_t> &results, const Action &action, int32_t stage) {
    return results[static_cast<size_t>(stage) * getUnits() +
                   static_cast<size_t>(action.microbatch) * schedule.numSlices + action.slice];
  }
  /// The stage whose result an action gets from another rank; -1 if it gets none.
  int32_t getSource(const Action &action) const {
    if (isForward(action.kind) && !placement.isFirst(action.stage) &&
        placement.crosses(action.stage - 1))
      return action.stage - 1;
    if (makesGradient(action.kind) && placement.crosses(action.stage))
      return action.stage + 1;
    return -1;
  }
  void makeGroups();
  void walk();
  bool run(int32_t rank, Group &group, bool force);
  void finish(int32_t rank, const Action &action, const Group &group);
  void advance(int32_t rank, bool force);
  void writeRank(int32_t rank);
  void writeSend(std::vector<Action> &list, const Action &action) const;

  Schedule &schedule;
  const Placement &placement;
  std::vector<std::vector<Group>> groups;     ///< by rank
  std::vector<size_t> next;                   ///< group of each rank
  std::vector<int32_t> work;                  ///< ranks that may be able to go on
  std::vector<std::vector<Receive>> receives; ///< by rank
  std::vector<int32_t> forward, backward;     ///< units of time at which results are there
};

void MessageWriter::makeGroups() {
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const std::vector<Action> &list = schedule.ranks[rank];
    for (size_t begin = 0, end = 0; begin < list.size(); begin = end) {
      for (end = begin + 1; list[end - 1].joined && end < list.size();)
        ++end;
      groups[rank].push_back({begin, end});
    }
  }
}

/// False if something that the group needs of another rank is not there yet, unless forced.
bool MessageWriter::run(int32_t rank, Group &group, bool force) {
  const std::vector<Action> &list = schedule.ranks[rank];
  int32_t seconds = 0;
  for (size_t i = group.begin; i < group.end; ++i) {
    int32_t source = getSource(list[i]);
    if (source >= 0) {
      int32_t there = at(isForward(list[i].kind) ? forward : backward, list[i], source);
      if (there == never && !force)
        return false;
      group.start = std::max(group.start, there);
    }
    seconds += !computes(list[i].kind) ? 0 : list[i].kind == Backward ? 2 : 1;
  }
  group.finish = group.start + seconds;
  for (size_t i = group.begin; i < group.end; ++i)
    finish(rank, list[i], group);
  return true;
}

/// Notes when the action's message was sent, and tells who waits for its result.
void MessageWriter::finish(int32_t rank, const Action &action, const Group &group) {
  bool isActivation = isForward(action.kind);
  if (!isActivation && !makesGradient(action.kind))
    return;
  std::vector<int32_t> &results = isActivation ? forward : backward;
  if (int32_t source = getSource(action); source >= 0) {
    int32_t sent = at(results, action, source);
    receives[rank].push_back({sent == never ? group.start : sent,
                              {isActivation ? ReceiveForward : ReceiveBackward, false, action.stage,
                               action.microbatch, action.slice}});
  }
  at(results, action, action.stage) = group.finish;
  if (isActivation ? !placement.isLast(action.stage) : !placement.isFirst(action.stage))
    work.push_back(placement.ranks[isActivation ? action.stage + 1 : action.stage - 1]);
}

/// Runs a rank's groups while what they need is there.
void MessageWriter::advance(int32_t rank, bool force) {
  for (; next[rank] < groups[rank].size(); ++next[rank]) {
    Group &group = groups[rank][next[rank]];
    group.start = next[rank] == 0 ? 0 : groups[rank][next[rank] - 1].finish;
    if (!run(rank, group, force))
      return;
  }
}

/// Where lists wait for each other in a circle, what is left begins when its rank is free: its
/// receives stand right before it, and whoever checks the schedule finds the circle.
void MessageWriter::walk() {
  for (size_t rank = 0; rank < groups.size(); ++rank)
    advance(static_cast<int32_t>(rank), false);
  while (!work.empty()) {
    int32_t rank = work.back();
    work.pop_back();
    advance(rank, false);
  }
  for (size_t rank = 0; rank < groups.size(); ++rank)
    advance(static_cast<int32_t>(rank), true);
}

void MessageWriter::writeSend(std::vector<Action> &list, const Action &action) const {
  auto add = [&](ActionKind kind) {
    list.push_back({kind, false, action.stage, action.microbatch, action.slice});
  };
  if (isForward(action.kind) && placement.crosses(action.stage))
    add(SendForward);
  if (makesGradient(action.kind) && !placement.isFirst(action.stage) &&
      placement.crosses(action.stage - 1))
    add(SendBackward);
}

void MessageWriter::writeRank(int32_t rank) {
  std::vector<Receive> &due = receives[rank];
  std::sort(due.begin(), due.end(), [](const Receive &a, const Receive &b) {
    auto key = [](const Receive &receive) {
      return std::tuple(receive.sent, receive.action.stage, receive.action.kind,
                        receive.action.microbatch, receive.action.slice);
    };
    return key(a) < key(b);
  });
  const std::vector<Action> &old = schedule.ranks[rank];
  std::vector<Action> list;
  size_t next = 0;
  for (const Group &group : groups[rank]) {
    for (; next < due.size() && due[next].sent <= group.start; ++next)
      list.push_back(due[next].action);
    for (size_t i = group.begin; i < group.end; ++i)
      list.push_back(old[i]);
    for (size_t i = group.begin; i < group.end; ++i)
      writeSend(list, old[i]);
  }
  schedule.ranks[rank] = std::move(list);
}

void MessageWriter::write() {
  makeGroups();
  walk();
  for (size_t rank = 0; rank < groups.size(); ++rank)
    writeRank(static_cast<int32_t>(rank));
}

std::vector<std::vector<int32_t>> MessageWriter::findBegins() {
  makeGroups();
  walk();
  std::vector<std::vector<int32_t>> begins(groups.size());
  for (size_t rank = 0; rank < groups.size(); ++rank)
    for (const Group &group : groups[rank])
      begins[rank].insert(begins[rank].end(), group.end - group.begin, group.start);
  return begins;
}

} // namespace

std::vector<std::vector<int32_t>> weft::schedule::findUnitBegins(Schedule schedule) {
  return MessageWriter(schedule).findBegins();
}

void weft::schedule::addMessages(Schedule &schedule) { MessageWriter(schedule).write(); }
