#include "compiler/Plan/TrainingPlan.h"

#include "compiler/Schedule/Pipelines.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <regex>

using namespace weft;

bool weft::isFoundIn(const std::string &expression, std::string_view name) {
  return !expression.empty() && std::regex_search(name.begin(), name.end(), std::regex(expression));
}

plan::Optimizer weft::makeOptimizer(plan::Optimizer::Kind kind) {
  plan::Optimizer optimizer;
  optimizer.set_kind(kind);
  optimizer.set_learning_rate(kind == plan::Optimizer::ADAFACTOR ? 0.01 : 0.001);
  if (kind == plan::Optimizer::ADAM || kind == plan::Optimizer::ADAMW ||
      kind == plan::Optimizer::LAMB) {
    optimizer.set_beta1(0.9);
    optimizer.set_beta2(0.999);
    optimizer.set_epsilon(kind == plan::Optimizer::LAMB ? 1e-6 : 1e-8);
  }
  if (kind == plan::Optimizer::ADAFACTOR)
    optimizer.set_epsilon(1e-3);
  if (kind == plan::Optimizer::ADAMW)
    optimizer.set_weight_decay(0.01);
  return optimizer;
}

namespace {
/// Collects the first problem with a number.
class Ranges {
public:
  void atLeast(const char *name, double value, double low) {
    require(value >= low && std::isfinite(value), name, value, fmt::format("of at least {}", low));
  }
  void below1(const char *name, double value) {
    require(value >= 0 && value < 1, name, value, "from 0 to below 1");
  }
  void within(const char *name, int64_t value, int64_t low, int64_t high) {
    if ((value < low || value > high) && problem.empty())
      problem = fmt::format("expected {} from {} to {}, got: {}", name, low, high, value);
  }
  std::string problem;

private:
  void require(bool good, const char *name, double value, const std::string &range) {
    if (!good && problem.empty())
      problem = fmt::format("expected {} {}, got: {}", name, range, value);
  }
};
} // namespace

static std::string checkRegex(const char *name, const std::string &text) {
  try {
    std::regex compiled(text);
    return "";
  } catch (const std::regex_error &error) {
    return std::string(name) + " '" + text + "' is no regular expression: " + error.what();
  }
}

static std::string validateLoss(const plan::Loss &loss) {
  if (!plan::Loss::Kind_IsValid(loss.kind()))
    return "no loss has the number " + std::to_string(loss.kind());
  if (loss.value().empty())
    return loss.kind() == plan::Loss::OUTPUT ? "expected the name of the output that is the loss"
                                             : "expected the name of the logits";
  if (loss.kind() != plan::Loss::OUTPUT && loss.labels().empty())
    return "expected a name for the labels";
  if (loss.label_shift() < 0)
    return "expected label_shift of at least 0, got: " + std::to_string(loss.label_shift());
  return "";
}

static std::string validateOptimizer(const plan::Optimizer &optimizer) {
  if (!plan::Optimizer::Kind_IsValid(optimizer.kind()))
    return "no optimizer has the number " + std::to_string(optimizer.kind());
  const plan::Schedule &schedule = optimizer.schedule();
  if (!plan::Schedule::Kind_IsValid(schedule.kind()))
    return "no schedule has the number " + std::to_string(schedule.kind());
  Ranges ranges;
  ranges.atLeast("learning_rate", optimizer.learning_rate(), 0);
  ranges.below1("beta1", optimizer.beta1());
  ranges.below1("beta2", optimizer.beta2());
  ranges.atLeast("epsilon", optimizer.epsilon(), 0);
  ranges.atLeast("weight_decay", optimizer.weight_decay(), 0);
  ranges.below1("momentum", optimizer.momentum());
  ranges.atLeast("clip_norm", optimizer.clip_norm(), 0);
  ranges.atLeast("warmup", schedule.warmup(), 0);
  ranges.atLeast("total_steps", schedule.total_steps(),
                 schedule.kind() == plan::Schedule::CONSTANT ? 0 : 1);
  if (!ranges.problem.empty())
    return ranges.problem;
  if (schedule.kind() != plan::Schedule::CONSTANT && schedule.warmup() > schedule.total_steps())
    return "expected warmup within total_steps, got: " + std::to_string(schedule.warmup()) + " > " +
           std::to_string(schedule.total_steps());
  if (optimizer.nesterov() && optimizer.momentum() == 0)
    return "nesterov needs a momentum";
  return checkRegex("no_decay", optimizer.no_decay());
}

static std::string toLower(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string weft::getRecomputeName(plan::Training::Recompute kind) {
  return toLower(plan::Training::Recompute_Name(kind));
}

std::string weft::getOffloadName(plan::Training::Offload kind) {
  return toLower(plan::Training::Offload_Name(kind).substr(offloadPrefix.size()));
}

std::set<int64_t> weft::listGroups(const plan::Plan &plan) {
  std::set<int64_t> groups;
  for (const plan::Mesh &mesh : plan.meshes())
    groups.insert(mesh.first_device());
  return groups;
}

schedule::Pipeline weft::getPipeline(const plan::Plan &plan) {
  const plan::Training &training = plan.training();
  schedule::Pipeline pipeline;
  pipeline.name = training.pipeline();
  pipeline.ranks = static_cast<int32_t>(listGroups(plan).size());
  pipeline.chunks = plan.meshes_size() / std::max(pipeline.ranks, 1);
  pipeline.microbatches = static_cast<int32_t>(
      std::max<int64_t>({training.accumulate(), training.accumulate_batches(), 1}));
  pipeline.slices = static_cast<int32_t>(std::max<int64_t>(training.slices(), 1));
  return pipeline;
}

std::string weft::validateTraining(const plan::Training &training) {
  if (training.has_loss())
    if (std::string why = validateLoss(training.loss()); !why.empty())
      return why;
  if (std::string why = validateOptimizer(training.optimizer()); !why.empty())
    return why;
  Ranges ranges;
  ranges.atLeast("loss_scale", training.loss_scale().value(), 0);
  ranges.within("accumulate", training.accumulate(), 1, mostPasses);
  ranges.within("accumulate_batches", training.accumulate_batches(), 0, mostPasses);
  if (training.slices() != anySlices)
    ranges.within("slices", training.slices(), 0, mostSlices);
  for (int64_t tokens : training.slice_lengths())
    ranges.atLeast("slice_lengths", static_cast<double>(tokens), 1);
  ranges.atLeast("optimizer_sharding", training.optimizer_sharding(), 0);
  ranges.atLeast("bucket_bytes", training.bucket_bytes(), 0);
  if (!ranges.problem.empty())
    return ranges.problem;
  if (training.accumulate() > 1 && training.accumulate_batches() > 1)
    return "a step goes through its batch in microbatches (accumulate), or through several batches "
           "of the model (accumulate_batches), not both";
  if (training.slice_lengths_size() > 0 && training.slice_lengths_size() != training.slices())
    return "expected a length for each of " + std::to_string(training.slices()) +
           " slices, got: " + std::to_string(training.slice_lengths_size());
  if (training.loss_scale().dynamic() && training.loss_scale().value() == 0)
    return "expected a first value of a dynamic loss_scale";
  if (training.optimizer_sharding() > 3)
    return "expected optimizer_sharding from 0 to 3, got: " +
           std::to_string(training.optimizer_sharding());
  if (std::string why = schedule::checkPipelineName(training.pipeline()); !why.empty())
    return why;
  if (!plan::Training::Recompute_IsValid(training.recompute()))
    return "no recomputation has the number " + std::to_string(training.recompute());
  if (!plan::Training::Offload_IsValid(training.offload()))
    return "no offload has the number " + std::to_string(training.offload());
  return checkRegex("parameter_pattern", training.parameter_pattern());
}
