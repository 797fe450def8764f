//===- StageSchedules.h - which schedule suits a pipeline -------*- C++ -*-===//
//
// Orders the schedules that programs may have (compiler/Schedule/Pipelines.h) by what a step of a
// chain of blocks takes in them, each cut into as many stages as it has: closed times, which tell
// what is worth to be planned and simulated. Memory is not looked at.
//
//   8 equal blocks, 2 groups of devices, 4 microbatches: zb-v, whose gaps are filled, before
//   interleaved, whose gaps are half as long as those of 1f1b
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_STAGESCHEDULES_H
#define WEFT_COMPILER_SEARCH_STAGESCHEDULES_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// s that a block takes of one microbatch on a stage's devices.
struct BlockTimes {
  double forward = 0;
  double backward = 0;       ///< gradients of inputs
  double weightGradient = 0; ///< those of weights
  double getSum() const { return forward + backward + weightGradient; }
};

struct ScheduleTime {
  std::string name;
  double seconds = 0; ///< from the first microbatch's begin to the last one's end
};

/// All schedules that so many groups of devices and microbatches may have of so many blocks, the
/// fastest first. `handedBytes` is what a microbatch hands on behind each block but the last, a
/// byte of which takes so many seconds.
std::vector<ScheduleTime> rankSchedules(std::span<const BlockTimes> blocks,
                                        std::span<const int64_t> handedBytes, size_t groups,
                                        int64_t microbatches, double secondsPerByte);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_STAGESCHEDULES_H
