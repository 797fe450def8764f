//===- TrainingPlan.h - how a plan says to train ----------------*- C++ -*-===//

#ifndef WEFT_COMPILER_PLAN_TRAININGPLAN_H
#define WEFT_COMPILER_PLAN_TRAININGPLAN_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Schedule/Pipelines.h"
#include <set>
#include <string>
#include <string_view>

namespace weft {

/// The most microbatches, or batches, of a step: a program lists what it does of each, some
/// kilobytes.
inline constexpr int64_t mostPasses = 65536;

/// The most slices that a sequence goes through stages in: a program has a segment for each.
inline constexpr int64_t mostSlices = 1024;

/// In a training's `slices`: as many as are the fastest.
inline constexpr int64_t anySlices = -1;

/// Whether a regular expression of a plan, which validateTraining has accepted, is found in a name.
/// An empty one is found nowhere.
bool isFoundIn(const std::string &expression, std::string_view name);

/// An optimizer with the numbers that torch takes where none are given (lamb: its paper's).
plan::Optimizer makeOptimizer(plan::Optimizer::Kind kind);

/// What they are called on the command line.
std::string getRecomputeName(plan::Training::Recompute kind);
std::string getOffloadName(plan::Training::Offload kind);

/// What the names of plan::Training::Offload begin with, before those.
inline const std::string offloadPrefix = "OFFLOAD_";

/// The groups of devices that the parts of a plan stand on, by the first of each.
std::set<int64_t> listGroups(const plan::Plan &plan);

/// The schedule that the stages of a plan's training step have.
schedule::Pipeline getPipeline(const plan::Plan &plan);

/// Checks what can be checked without the model: numbers in their ranges, names where they are
/// needed. A loss may be missing: the model may bring one. Returns the problem, by the name of the
/// field, or "".
std::string validateTraining(const plan::Training &training);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_TRAININGPLAN_H
