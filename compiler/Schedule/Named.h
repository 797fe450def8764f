//===- Named.h - schedules by name ------------------------------*- C++ -*-===//
//
//   name           placement   source
//   gpipe          one stage   Huang et al. 2019
//   1f1b           one stage   Narayanan et al. 2019 (PipeDream-Flush)
//   interleaved    loop        Narayanan et al. 2021, section 2.2
//   zb-h1, zb-h2   one stage   Qi et al. 2023, section 2
//   zb-v           V           Qi et al. 2024, section 3
//   v-half, v-min  V           the same, at a half and a third of the memory
//   dualpipe       both ways   DeepSeek-V3 2024, section 3.2.1
//   dualpipev      V           the same, folded
//   critical-path  one stage   Merak (Lai et al. 2023), section 4
//   searched       any         Search.h
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_NAMED_H
#define WEFT_COMPILER_SCHEDULE_NAMED_H

#include "compiler/Schedule/Schedule.h"
#include "compiler/Schedule/Timeline.h"
#include <optional>
#include <span>

namespace weft::schedule {

/// What a schedule is made for.
struct Spec {
  int32_t ranks = 1;
  int32_t microbatches = 1;
  std::optional<int32_t> chunks; ///< of a rank; left open: what the schedule usually has
  int32_t slices = 1;            ///< of each microbatch
  StageCosts costs;              ///< of a rank's whole part of a microbatch
  double message = 0;
  std::optional<double> limit; ///< of each rank's memory, in units of `costs`
  double recompute = 1;        ///< of the first stage's forward, for critical-path
  bool copies = true;          ///< of stages are allowed to the search: their weights held twice
};

struct NamedSchedule {
  const char *name;
  const char *description;
  Placement (*place)(int32_t numRanks, int32_t chunks);
  int32_t chunks;                     ///< of a rank, usually
  bool splitsBackward;                ///< gradients of weights are computed apart from the others
  bool isOfPrograms;                  ///< they hold stages once, and compute again what they may
  Schedule (*make)(const Spec &spec); ///< without messages; throws ScheduleError
};

/// All but `searched`, in the order of the documentation.
std::span<const NamedSchedule> listNamedSchedules();

/// Null if there is none of that name.
const NamedSchedule *findNamedSchedule(const std::string &name);

// The families, a file each.
Schedule makeGPipe(const Spec &spec);
Schedule make1F1B(const Spec &spec);
Schedule makeZBH1(const Spec &spec);
Schedule makeZBH2(const Spec &spec);
Schedule makeCriticalPath(const Spec &spec);
Schedule makeInterleaved(const Spec &spec);
Schedule makeZBV(const Spec &spec);
Schedule makeVHalf(const Spec &spec);
Schedule makeVMin(const Spec &spec);
Schedule makeDualPipe(const Spec &spec);
Schedule makeDualPipeV(const Spec &spec);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_NAMED_H
