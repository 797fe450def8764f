#include "compiler/Search/StageSchedules.h"

#include "compiler/Schedule/Pipelines.h"
#include "compiler/Schedule/Timeline.h"
#include "compiler/Search/StagePartition.h"

#include <algorithm>
#include <optional>
#include <tuple>

using namespace weft;

namespace {
/// A chain of blocks, of which schedules are timed.
struct Chain {
  std::span<const BlockTimes> blocks;
  std::span<const int64_t> handedBytes;
  double secondsPerByte;
  std::vector<double> sums; ///< of the blocks' times

  schedule::Costs makeCosts(size_t stages) const;
};
} // namespace

schedule::Costs Chain::makeCosts(size_t stages) const {
  schedule::Costs costs;
  std::vector<size_t> ends = partitionStages(sums, handedBytes, stages);
  ends.push_back(blocks.size() - 1);
  size_t block = 0;
  for (size_t end : ends) {
    schedule::StageCosts &stage = costs.stages.emplace_back();
    stage.forward = stage.input = stage.weight = 0;
    for (; block <= end; ++block) {
      stage.forward += blocks[block].forward;
      stage.input += blocks[block].backward;
      stage.weight += blocks[block].weightGradient;
    }
    if (end + 1 < blocks.size())
      costs.message = std::max(costs.message, secondsPerByte * double(handedBytes[end]));
  }
  return costs;
}

/// What a step takes in a schedule; none where it cannot be had.
static std::optional<double> findSeconds(const Chain &chain, const schedule::Pipeline &pipeline) {
  size_t stages = static_cast<size_t>(pipeline.ranks) * pipeline.chunks;
  std::string problem;
  if (chain.blocks.size() < stages)
    return std::nullopt;
  std::optional<schedule::Schedule> schedule = schedule::makePipeline(pipeline, problem);
  if (!schedule)
    return std::nullopt;
  schedule::addMessages(*schedule);
  return schedule::runSchedule(*schedule, chain.makeCosts(stages)).makespan;
}

std::vector<ScheduleTime> weft::rankSchedules(std::span<const BlockTimes> blocks,
                                              std::span<const int64_t> handedBytes, size_t groups,
                                              int64_t microbatches, double secondsPerByte) {
  Chain chain{blocks, handedBytes, secondsPerByte, {}};
  for (const BlockTimes &block : blocks)
    chain.sums.push_back(block.getSum());
  std::vector<ScheduleTime> times;
  for (const std::string &name : schedule::listPipelines())
    if (std::optional<double> seconds =
            findSeconds(chain, {name, static_cast<int32_t>(groups), schedule::getUsualChunks(name),
                                static_cast<int32_t>(microbatches)}))
      times.push_back({name, *seconds});
  std::sort(times.begin(), times.end(), [](const ScheduleTime &a, const ScheduleTime &b) {
    return std::tie(a.seconds, a.name) < std::tie(b.seconds, b.name);
  });
  return times;
}
