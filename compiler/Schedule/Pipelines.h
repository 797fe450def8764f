//===- Pipelines.h - schedules of programs ----------------------*- C++ -*-===//
//
// The schedules that a step's program may have whose stages stand on meshes: of those by name
// (Named.h) the ones that hold every stage once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_PIPELINES_H
#define WEFT_COMPILER_SCHEDULE_PIPELINES_H

#include "compiler/Schedule/Schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace weft::schedule {

/// What decides a step's schedule. Names are among listPipelines(), or none.
struct Pipeline {
  std::string name; ///< none: the default
  int32_t ranks = 1;
  int32_t chunks = 1; ///< stages of each rank
  int32_t microbatches = 1;
  int32_t slices = 1; ///< of each one's sequence
};

/// The names of all, in the order of the documentation, the default first.
const std::vector<std::string> &listPipelines();

/// Why no program has a schedule of that name; "" where one may.
std::string checkPipelineName(const std::string &name);

/// Why a schedule has no such stages; "" where it has.
std::string checkChunks(const std::string &name, int32_t chunks);

/// How many stages a rank usually has.
int32_t getUsualChunks(const std::string &name);

/// The schedule, without messages. None, and the problem, where there is none of that shape.
std::optional<Schedule> makePipeline(const Pipeline &pipeline, std::string &problem);

/// Of how many microbatches (slices of them) at a time a stage has values that wait.
struct Waiting {
  int32_t kept = 0;   ///< the forward pass's, until all gradients are there
  int32_t putOff = 0; ///< the backward pass's, for gradients of weights that are put off

  bool operator==(const Waiting &) const = default;
};

/// By stage.
std::vector<Waiting> countWaiting(const Schedule &schedule);

/// Which rank holds which stage.
Placement placePipeline(const std::string &name, int32_t ranks, int32_t chunks);

/// Whether gradients of weights are computed apart from the others.
bool putsOffWeights(const std::string &name);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_PIPELINES_H
