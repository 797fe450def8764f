#include "compiler/Schedule/Check.h"
#include "compiler/Schedule/Liveness.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace weft::schedule;

using enum ActionKind;

namespace {

constexpr int numUnitKinds = static_cast<int>(Gather); ///< kinds that are about a microbatch

/// Where each action of a unit (stage, microbatch and slice) stands in its rank's list.
class Positions {
public:
  static constexpr int32_t none = -1;

  explicit Positions(const Schedule &schedule)
      : schedule(schedule),
        places(static_cast<size_t>(schedule.placement.getNumStages()) * getUnits() * numUnitKinds,
               none) {}

  int32_t &at(ActionKind kind, int32_t stage, int32_t microbatch, int32_t slice) {
    size_t unit = static_cast<size_t>(microbatch) * schedule.numSlices + slice;
    return places[(stage * getUnits() + unit) * numUnitKinds + static_cast<size_t>(kind)];
  }

private:
  size_t getUnits() const {
    return static_cast<size_t>(schedule.numMicrobatches) * schedule.numSlices;
  }

  const Schedule &schedule;
  std::vector<int32_t> places;
};

class Checker {
public:
  explicit Checker(const Schedule &schedule)
      : schedule(schedule), placement(schedule.placement), positions(schedule),
        perStage(placement.getNumStages()) {}

  void check();

private:
  /// Actions of a stage that are about no microbatch, and the computations that they enclose.
  struct PerStage {
    int32_t first = -1, last = -1; ///< computation
    std::array<int32_t, numActionKinds> at{};
    std::array<int32_t, numActionKinds> count{};
  };

  [[noreturn]] void fail(const Action &action, const std::string &what) const {
    throw ScheduleError(
        fmt::format("rank {}: {} {}", placement.ranks[action.stage], describe(action), what));
  }
  int32_t find(ActionKind kind, const Action &unit) {
    return positions.at(kind, unit.stage, unit.microbatch, unit.slice);
  }
  void place(int32_t rank, int32_t index);
  void placePerStage(const Action &action, int32_t index);
  void checkUnit(const Action &unit);
  void checkKinds(const Action &unit);
  void require(const Action &unit, ActionKind kind);
  void requireOrder(const Action &unit, ActionKind before, ActionKind after);
  void requireAfter(Action unit, ActionKind kind, Action other, ActionKind otherKind);
  void checkMessage(const Action &unit, ActionKind work, ActionKind kind, bool needed);
  void checkPerStage(int32_t stage);
  void checkMessageOrder(int32_t stage, ActionKind send, ActionKind receive, int32_t receiver);

  const Schedule &schedule;
  const Placement &placement;
  Positions positions;
  std::vector<PerStage> perStage; ///< by stage
};

void Checker::placePerStage(const Action &action, int32_t index) {
  PerStage &stage = perStage[action.stage];
  auto kind = static_cast<size_t>(action.kind);
  bool repeats = action.kind == Gather || action.kind == Release;
  if (stage.count[kind]++ > 0 && !repeats)
    fail(action, "is there twice");
  stage.at[kind] = index;
}

void Checker::place(int32_t rank, int32_t index) {
  const Action &action = schedule.ranks[rank][index];
  if (action.stage < 0 || action.stage >= placement.getNumStages() || action.microbatch < 0 ||
      action.microbatch >= schedule.numMicrobatches || action.slice < 0 ||
      action.slice >= schedule.numSlices)
    throw ScheduleError(fmt::format("rank {}: {}: there are {} stages, {} microbatches, {} slices",
                                    rank, describe(action), placement.getNumStages(),
                                    schedule.numMicrobatches, schedule.numSlices));
  if (placement.ranks[action.stage] != rank)
    throw ScheduleError(fmt::format("rank {}: {}: the stage lies on rank {}", rank,
                                    describe(action), placement.ranks[action.stage]));
  if (action.kind >= Gather)
    return placePerStage(action, index);
  int32_t &position = positions.at(action.kind, action.stage, action.microbatch, action.slice);
  if (position != Positions::none)
    fail(action, "is there twice");
  position = index;
  if (!computes(action.kind))
    return;
  PerStage &stage = perStage[action.stage];
  stage.first = stage.first < 0 ? index : stage.first;
  stage.last = index;
}

void Checker::require(const Action &unit, ActionKind kind) {
  if (find(kind, unit) != Positions::none)
    return;
  Action missing = unit;
  missing.kind = kind;
  fail(missing, "is missing");
}

void Checker::requireAfter(Action unit, ActionKind kind, Action other, ActionKind otherKind) {
  unit.kind = kind;
  other.kind = otherKind;
  int32_t here = find(kind, unit), there = find(otherKind, other);
  if (here != Positions::none && there != Positions::none && here < there)
    fail(unit, fmt::format("comes before {}", describe(other)));
}

void Checker::requireOrder(const Action &unit, ActionKind before, ActionKind after) {
  requireAfter(unit, after, unit, before);
}

/// A forward and either a full backward or both of its halves.
void Checker::checkKinds(const Action &unit) {
  require(unit, Forward);
  bool whole = find(Backward, unit) != Positions::none;
  bool input = find(BackwardInput, unit) != Positions::none;
  bool weight = find(BackwardWeight, unit) != Positions::none;
  if (whole && (input || weight)) {
    Action twice = unit;
    twice.kind = input ? BackwardInput : BackwardWeight;
    fail(twice, "is there beside a full backward B, which contains it");
  }
  if (!whole && !input && !weight)
    require(unit, Backward);
  if (!whole) {
    require(unit, BackwardInput);
    require(unit, BackwardWeight);
  }
  if (schedule.getRecompute(unit.stage) > 0)
    require(unit, Recompute);
}

/// The message of a unit: there if and only if it is needed, on the right side of its computation.
void Checker::checkMessage(const Action &unit, ActionKind work, ActionKind kind, bool needed) {
  if (needed) {
    require(unit, kind);
    sends(kind) ? requireOrder(unit, work, kind) : requireOrder(unit, kind, work);
  } else if (find(kind, unit) != Positions::none) {
    Action extra = unit;
    extra.kind = kind;
    fail(extra, "is a message that nothing needs");
  }
}

void Checker::checkUnit(const Action &unit) {
  checkKinds(unit);
  ActionKind gradient = find(Backward, unit) != Positions::none ? Backward : BackwardInput;
  requireOrder(unit, Forward, gradient);
  requireOrder(unit, Forward, Recompute);
  requireOrder(unit, Recompute, gradient);
  requireOrder(unit, gradient, BackwardWeight);
  bool first = placement.isFirst(unit.stage);
  bool in = !first && placement.crosses(unit.stage - 1), out = placement.crosses(unit.stage);
  checkMessage(unit, Forward, ReceiveForward, in);
  checkMessage(unit, Forward, SendForward, out);
  checkMessage(unit, gradient, ReceiveBackward, out);
  checkMessage(unit, gradient, SendBackward, in);
  if (!first && !in) { // the stage before lies on the same rank
    Action before = unit;
    --before.stage;
    requireAfter(unit, Forward, before, Forward);
    for (ActionKind kind : {Backward, BackwardInput})
      requireAfter(before, kind, unit, gradient);
  }
  if (unit.slice > 0) {
    Action before = unit;
    --before.slice;
    requireAfter(unit, Forward, before, Forward);
    for (ActionKind kind : {Backward, BackwardInput})
      requireAfter(before, kind, unit, gradient);
  }
}

void Checker::checkPerStage(int32_t stage) {
  const PerStage &entry = perStage[stage];
  auto at = [&](ActionKind kind) { return entry.at[static_cast<size_t>(kind)]; };
  auto has = [&](ActionKind kind) { return entry.count[static_cast<size_t>(kind)] > 0; };
  if (has(Reduce) && at(Reduce) < entry.last)
    fail({Reduce, false, stage}, "comes before the stage's last computation");
  if (has(Update) && at(Update) < std::max(entry.last, has(Reduce) ? at(Reduce) : 0))
    fail({Update, false, stage}, "comes before the stage's last gradient");
  if (!has(Gather))
    return;
  bool here = false; // whether the weights are there, through the list
  for (const Action &action : schedule.ranks[placement.ranks[stage]])
    if (action.stage == stage) {
      if (action.kind == Gather || action.kind == Release)
        here = action.kind == Gather;
      else if (computes(action.kind) && !here)
        fail(action, "comes while the stage's weights are not gathered");
    }
}

/// The k-th message received on an edge is the k-th sent.
void Checker::checkMessageOrder(int32_t stage, ActionKind send, ActionKind receive,
                                int32_t receiver) {
  auto list = [&](int32_t from, ActionKind kind) {
    std::vector<std::pair<int32_t, Action>> found;
    for (int32_t m = 0; m < schedule.numMicrobatches; ++m)
      for (int32_t slice = 0; slice < schedule.numSlices; ++slice)
        if (int32_t position = positions.at(kind, from, m, slice); position != Positions::none)
          found.push_back({position, {kind, false, from, m, slice}});
    std::sort(found.begin(), found.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    return found;
  };
  auto sent = list(stage, send), received = list(receiver, receive);
  for (size_t i = 0; i < sent.size() && i < received.size(); ++i) {
    const Action &left = sent[i].second, &right = received[i].second;
    if (left.microbatch != right.microbatch || left.slice != right.slice)
      fail(right, fmt::format("comes where rank {} sends microbatch {}: messages of an edge are "
                              "received in the order in which they are sent",
                              placement.ranks[stage], left.microbatch));
  }
}

void Checker::check() {
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i)
      place(static_cast<int32_t>(rank), static_cast<int32_t>(i));
  for (int32_t stage = 0; stage < placement.getNumStages(); ++stage) {
    int32_t path = stage / placement.getPathLength();
    for (int32_t m = 0; m < schedule.numMicrobatches; ++m)
      for (int32_t slice = 0; slice < schedule.numSlices; ++slice) {
        if (placement.getPath(m, schedule.numMicrobatches) == path)
          checkUnit({Forward, false, stage, m, slice});
        else if (int32_t there = positions.at(Forward, stage, m, slice); there != Positions::none)
          fail({Forward, false, stage, m, slice}, "belongs to the other path");
      }
    checkPerStage(stage);
    if (placement.crosses(stage)) {
      checkMessageOrder(stage, SendForward, ReceiveForward, stage + 1);
      checkMessageOrder(stage + 1, SendBackward, ReceiveBackward, stage);
    }
  }
}

} // namespace

void weft::schedule::checkSchedule(const Schedule &schedule, int32_t buffers) {
  Checker(schedule).check();
  checkLiveness(schedule, buffers);
}
