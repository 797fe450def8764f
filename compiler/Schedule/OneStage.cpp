//===- OneStage.cpp - schedules with one stage a rank ---------------------===//

#include "compiler/Schedule/Builder.h"

#include <algorithm>
#include <fmt/format.h>

using namespace weft::schedule;

using enum ActionKind;

/// A backward, behind what it needs again of its forward.
static void addBackward(ListBuilder &list, int32_t stage, bool recompute) {
  if (recompute && list.has(Backward, stage))
    list.add(Recompute, stage);
  list.add(Backward, stage);
}

/// Forwards first, then forwards and backwards in turn, then the backwards that are left.
static void writeOneInOneOut(ListBuilder &list, int32_t stage, int32_t warmup, bool recompute) {
  for (int32_t i = 0; i < warmup; ++i)
    list.add(Forward, stage);
  while (list.has(Backward, stage)) {
    list.add(Forward, stage);
    addBackward(list, stage, recompute);
  }
}

Schedule weft::schedule::makeGPipe(const Spec &spec) {
  Schedule schedule = startSchedule(spec, "gpipe", placeLoop(spec.ranks, 1), 1, /*slices=*/true);
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    ListBuilder list(schedule, rank);
    writeOneInOneOut(list, rank, spec.microbatches * spec.slices, false);
  }
  return schedule;
}

/// With slices a microbatch's first backward is its last slice's, so that all of them go before.
Schedule weft::schedule::make1F1B(const Spec &spec) {
  Schedule schedule = startSchedule(spec, "1f1b", placeLoop(spec.ranks, 1), 1, /*slices=*/true);
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    ListBuilder list(schedule, rank);
    writeOneInOneOut(list, rank, spec.ranks - 1 - rank + spec.slices - 1, false);
  }
  return schedule;
}

/// Forwards; pairs of forward and gradient, with a weight gradient behind each pair once `delay` of
/// them wait; gradients with weight gradients in between; the weight gradients that are left.
static void writeZeroBubble(ListBuilder &list, int32_t stage, int32_t warmup, int32_t delay) {
  for (int32_t i = 0; i < warmup; ++i)
    list.add(Forward, stage);
  while (list.has(Forward, stage)) {
    list.add(Forward, stage);
    list.add(BackwardInput, stage);
    if (list.getLeft(BackwardWeight, stage) > delay)
      list.add(BackwardWeight, stage);
  }
  while (list.add(BackwardInput, stage))
    list.add(BackwardWeight, stage);
  while (list.add(BackwardWeight, stage))
    ;
}

Schedule weft::schedule::makeZBH1(const Spec &spec) {
  Schedule schedule = startSchedule(spec, "zb-h1", placeLoop(spec.ranks, 1), 1);
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    ListBuilder list(schedule, rank);
    writeZeroBubble(list, rank, spec.ranks - 1 - rank, rank);
  }
  return schedule;
}

Schedule weft::schedule::makeZBH2(const Spec &spec) {
  Schedule schedule = startSchedule(spec, "zb-h2", placeLoop(spec.ranks, 1), 1);
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    ListBuilder list(schedule, rank);
    writeZeroBubble(list, rank, 2 * (spec.ranks - 1 - rank), 2 * rank);
  }
  return schedule;
}

/// Stages further back hold fewer microbatches and can keep more of each: the memory that the first
/// stage has for ratio r_0 suffices stage i for 1 - (1-r_0)(p-1)/(p-1-i). The last needs none: its
/// backward follows its forward.
static std::vector<double> getRatios(int32_t ranks, double first) {
  std::vector<double> ratios(ranks);
  for (int32_t i = 0; i + 1 < ranks; ++i)
    ratios[i] = std::max(0.0, 1 - (1 - first) * (ranks - 1) / (ranks - 1 - i));
  return ratios;
}

/// 1F1B that recomputes while the gradient is still under way. The last stage but one takes its
/// third forward before its first backward, so that the last stage need not wait for it.
Schedule weft::schedule::makeCriticalPath(const Spec &spec) {
  Schedule schedule = startSchedule(spec, "critical-path", placeLoop(spec.ranks, 1), 1);
  schedule.recompute = getRatios(spec.ranks, spec.recompute);
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    ListBuilder list(schedule, rank);
    bool recompute = schedule.recompute[rank] > 0;
    int32_t warmup = spec.ranks - 1 - rank;
    if (warmup == 1 && spec.microbatches >= 4) {
      for (int32_t i = 0; i < 3; ++i)
        list.add(Forward, rank);
      for (int32_t i = 0; i < 2; ++i)
        addBackward(list, rank, recompute);
      warmup = 0;
    }
    writeOneInOneOut(list, rank, warmup, recompute);
  }
  return schedule;
}
