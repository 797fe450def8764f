//===- Interleaved.cpp - 1F1B over several chunks a rank ------------------===//

#include "compiler/Schedule/Builder.h"

#include <algorithm>
#include <fmt/format.h>

using namespace weft::schedule;

/// Rounds of as many microbatches as there are ranks: in each all chunks in turn, backwards from
/// the last chunk to the first.
Schedule weft::schedule::makeInterleaved(const Spec &spec) {
  int32_t chunks = spec.chunks.value_or(2);
  if (spec.microbatches % spec.ranks != 0)
    throw ScheduleError(fmt::format("schedule interleaved needs the number of microbatches to be a "
                                    "multiple of the {} ranks, got: {}",
                                    spec.ranks, spec.microbatches));
  Schedule schedule = startSchedule(spec, "interleaved", placeLoop(spec.ranks, chunks), chunks);
  int32_t total = spec.microbatches * chunks;
  for (int32_t rank = 0; rank < spec.ranks; ++rank) {
    ListBuilder list(schedule, rank);
    auto getStage = [&](int32_t index, bool forward) {
      int32_t chunk = index / spec.ranks % chunks;
      return (forward ? chunk : chunks - 1 - chunk) * spec.ranks + rank;
    };
    int32_t warmup = chunks == 1 ? spec.ranks - 1 - rank
                                 : 2 * (spec.ranks - 1 - rank) + (chunks - 1) * spec.ranks;
    warmup = std::min(warmup, total);
    for (int32_t i = 0; i < warmup; ++i)
      list.add(ActionKind::Forward, getStage(i, true));
    for (int32_t i = 0; i < total; ++i) {
      if (i + warmup < total)
        list.add(ActionKind::Forward, getStage(i + warmup, true));
      list.add(ActionKind::Backward, getStage(i, false));
    }
  }
  return schedule;
}
