//===- Dual.cpp - forwards and backwards of two streams at a time ---------===//
//
// Each rank has an early stage, which microbatches reach soon, and a late one. In DualPipe they
// belong to the two paths (from the near end and from the far end); in DualPipeV they are the way
// down and the way back. The list is the same: `depth` ranks lie on the way between the two turns,
// `near` of them before this one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/Builder.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

using namespace weft::schedule;

using enum ActionKind;

namespace {

class DualWriter {
public:
  DualWriter(Schedule &schedule, int32_t rank, int32_t early, int32_t late)
      : list(schedule, rank), early(early), late(late) {}

  /// `count` microbatches pass each of the two stages.
  void write(int32_t depth, int32_t near, int32_t count);

private:
  void addInput(int32_t stage) {
    if (list.add(BackwardInput, stage))
      waiting.push_back(stage);
  }
  /// The oldest weight gradient that waits.
  void addWeight() {
    if (waiting.empty())
      return;
    list.add(BackwardWeight, waiting.front());
    waiting.pop_front();
  }
  void writeRampUp(int32_t depth, int32_t near);
  void writeRampDown(int32_t depth, int32_t near);

  ListBuilder list;
  int32_t early, late;
  std::deque<int32_t> waiting; ///< stages of weight gradients
};

void DualWriter::writeRampUp(int32_t depth, int32_t near) {
  int32_t ahead = depth - near - 1;
  for (int32_t i = 0; i < 2 * ahead; ++i)
    list.add(Forward, early);
  for (int32_t i = 0; i <= near; ++i) {
    list.add(Forward, early);
    list.add(Forward, late);
  }
  for (int32_t i = 0; i < ahead; ++i) {
    addInput(late);
    addWeight();
    list.add(Forward, late);
  }
}

/// Weight gradients of the second half of the last backwards wait for the bubbles behind them.
void DualWriter::writeRampDown(int32_t depth, int32_t near) {
  int32_t ahead = depth - near - 1;
  for (int32_t i = 0; i < ahead; ++i) {
    list.add(Backward, late);
    list.addJoined(late, early);
  }
  for (int32_t i = 0; i <= near; ++i) {
    int32_t half = (near + 1) / 2;
    bool splitLate = i > half || (i == half && near % 2 == 1), splitEarly = i >= half;
    splitLate ? addInput(late) : static_cast<void>(list.add(Backward, late));
    splitEarly ? addInput(early) : static_cast<void>(list.add(Backward, early));
  }
  for (int32_t i = 0; i < ahead; ++i) {
    addWeight();
    addInput(early);
  }
  while (!waiting.empty())
    addWeight();
}

void DualWriter::write(int32_t depth, int32_t near, int32_t count) {
  writeRampUp(depth, near);
  for (int32_t i = 0; i < count - 2 * depth + near + 1; ++i) {
    if (i == 0 && near == depth - 1) { // at the turn the backward is that of the forward before
      list.add(Forward, early);
      list.add(Backward, late);
    } else {
      list.addJoined(early, late);
    }
    list.addJoined(late, early);
  }
  writeRampDown(depth, near);
}

} // namespace

static void requireMicrobatches(const Spec &spec, const char *name) {
  if (spec.microbatches < 2 * spec.ranks)
    throw ScheduleError(fmt::format("schedule {} needs at least {} microbatches, twice the number "
                                    "of ranks, got: {}",
                                    name, 2 * spec.ranks, spec.microbatches));
}

Schedule weft::schedule::makeDualPipe(const Spec &spec) {
  for (auto [what, number] : {std::pair{"ranks", spec.ranks}, {"microbatches", spec.microbatches}})
    if (number % 2 != 0)
      throw ScheduleError(
          fmt::format("schedule dualpipe needs an even number of {}, got: {}", what, number));
  requireMicrobatches(spec, "dualpipe");
  Schedule schedule = startSchedule(spec, "dualpipe", placeBothWays(spec.ranks), 2);
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    int32_t down = rank, up = 2 * spec.ranks - 1 - rank;
    bool first = rank < spec.ranks / 2;
    DualWriter(schedule, rank, first ? down : up, first ? up : down)
        .write(spec.ranks / 2, std::min(rank, spec.ranks - 1 - rank), spec.microbatches / 2);
  }
  return schedule;
}

Schedule weft::schedule::makeDualPipeV(const Spec &spec) {
  requireMicrobatches(spec, "dualpipev");
  Schedule schedule = startSchedule(spec, "dualpipev", placeV(spec.ranks, 2), 2);
  for (int32_t rank = 0; rank < spec.ranks; ++rank)
    DualWriter(schedule, rank, rank, 2 * spec.ranks - 1 - rank)
        .write(spec.ranks, rank, spec.microbatches);
  return schedule;
}
