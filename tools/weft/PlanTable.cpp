//===- PlanTable.cpp - a plan for people ----------------------------------===//

#include "tools/weft/PlanTable.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Schedule/Pipelines.h"
#include "driver/PlanDifference.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/CandidateTable.h"
#include "tools/weft/Output.h"
#include "tools/weft/Seconds.h"

#include <fmt/format.h>
#include <map>

using namespace weft;
using namespace weft::tool;

/// More decisions than this are told with -v alone: what they come to says more.
static constexpr int maxDecisions = 24;
static constexpr size_t maxWidth = 120, numOwners = 3;

std::string weft::tool::describeAxes(const plan::Mesh &mesh) {
  std::string text;
  for (const plan::Axis &axis : mesh.axes())
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name(), axis.size());
  return text;
}

std::string weft::tool::getOriginName(plan::Origin origin) {
  switch (origin) {
  case plan::USER:
    return "user";
  case plan::PROPAGATED:
    return "propagated";
  case plan::SEARCHED:
    return "chosen";
  default:
    return "unknown";
  }
}

//===----------------------------------------------------------------------===//
// Decisions, axes and blocks
//===----------------------------------------------------------------------===//

static void printDecisions(const plan::Plan &plan, bool all) {
  if (plan.decisions_size() > maxDecisions && !all) {
    runtime::print("{} decisions, which -v lists\n\n", plan.decisions_size());
    return;
  }
  size_t nameWidth = 5, shardingWidth = 8;
  for (const plan::Decision &decision : plan.decisions()) {
    nameWidth = std::max(nameWidth, decision.value().size());
    shardingWidth = std::max(shardingWidth, describeSharding(plan, decision).size());
  }
  auto row = [&](const std::string &name, const std::string &sharding, const std::string &origin,
                 const std::string &reason) {
    runtime::print("{:{}}  {:{}}  {:7}  {}\n", name, nameWidth, sharding, shardingWidth, origin,
                   reason);
  };
  row("value", "sharding", "origin", "why");
  for (const plan::Decision &decision : plan.decisions())
    row(decision.value(), describeSharding(plan, decision), getOriginName(decision.origin()),
        decision.reason());
  runtime::printText("\n");
}

static void printAxis(const AxisAnswer &axis) {
  const AxisTraffic &traffic = axis.traffic;
  std::string splits =
      axis.splits.empty() ? "splits nothing" : fmt::format("{}", fmt::join(axis.splits, ", "));
  std::string moved = "no collectives";
  if (traffic.collectives > 0)
    moved = fmt::format("{} collective{} of {}", traffic.collectives,
                        traffic.collectives == 1 ? "" : "s",
                        formatBytes(static_cast<int64_t>(traffic.bytes)));
  if (traffic.seconds > 0)
    moved += " in " + formatSeconds(traffic.seconds);
  runtime::print("  {}={}{}: {}; {}\n", traffic.name, traffic.size,
                 traffic.tier.empty() ? "" : " over " + traffic.tier, splits, moved);
}

static void printMeshes(const plan::Plan &plan, const PlanAnswer &answer) {
  std::string place = plan.cluster().empty() ? "" : " of " + plan.cluster();
  for (size_t i = 0; i < answer.report.meshes.size(); ++i) {
    const runtime::InspectReport::Mesh &mesh = answer.report.meshes[i];
    runtime::print("{}: {} device{}{}\n", mesh.name, mesh.ranks, mesh.ranks == 1 ? "" : "s", place);
    for (const AxisAnswer &axis : answer.axes[i])
      printAxis(axis);
  }
}

/// What was chosen of a training, or pinned.
static void printTraining(const plan::Plan &plan) {
  const plan::Training &training = plan.training();
  int64_t count = std::max<int64_t>(1, training.accumulate());
  std::string stages;
  if (plan.cuts_size() > 0)
    stages = fmt::format(" through {} stages by {}", plan.cuts_size() + 1,
                         training.pipeline().empty() ? schedule::listPipelines().front()
                                                     : training.pipeline());
  if (training.slices() > 1)
    stages += fmt::format(", sequences in {} slices", training.slices());
  if (training.slice_lengths_size() > 0)
    stages += fmt::format(" of {} tokens", fmt::join(training.slice_lengths(), ", "));
  std::string offload = getOffloadName(training.offload());
  runtime::print("training: {}, {} microbatch{}{}, recompute {}{}\n",
                 llvm::StringRef(plan::Optimizer::Kind_Name(training.optimizer().kind())).lower(),
                 count, count == 1 ? "" : "es", stages, getRecomputeName(training.recompute()),
                 offload == "none" ? "" : ", offload " + offload);
}

/// Names, as many as a line takes.
static std::string joinNames(const std::vector<std::string> &names, size_t width) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    std::string more = names.size() - i > 1 ? fmt::format(" and {} more", names.size() - i) : "";
    if (i > 0 && text.size() + 2 + names[i].size() + (i + 1 < names.size() ? 13 : 0) > width)
      return text + more;
    text += (i > 0 ? ", " : "") + names[i];
  }
  return text;
}

static void printBlock(const BlockSplits &block) {
  runtime::print("  {:>4} x {}{}\n", block.count, block.name,
                 block.parameters > 0 ? fmt::format(", {} parameters", block.parameters) : "");
  for (const BlockSplits::Group &group : block.weights) {
    std::string head = fmt::format("         {}  ", group.sharding);
    runtime::print("{}{}\n", head,
                   joinNames(group.names, maxWidth - std::min(maxWidth / 2, head.size())));
  }
  if (!block.result.empty())
    runtime::print("         {}  makes {}\n", block.resultSharding, block.result);
}

//===----------------------------------------------------------------------===//
// Memory and time
//===----------------------------------------------------------------------===//

static void printMemory(const plan::Prediction &expected, const PlanAnswer::Priced &priced) {
  const Simulation::RankClass &fullest = priced.simulation.getFullest();
  auto limit = static_cast<int64_t>(expected.memory_limit_bytes());
  runtime::print("memory per device: {}{}\n", formatBytes(fullest.peakBytes),
                 limit > 0 ? fmt::format(" of {} ({:.0f} %)", formatBytes(limit),
                                         100.0 * double(fullest.peakBytes) / double(limit))
                           : "");
  std::string classes;
  for (size_t kind = 0; kind < numMemoryClasses; ++kind)
    if (fullest.memory[kind] > 0) {
      std::string name = getMemoryClassName(static_cast<MemoryClass>(kind));
      std::replace(name.begin(), name.end(), '_', ' ');
      classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", name,
                             formatBytes(fullest.memory[kind]));
    }
  runtime::print("  {}\n", classes);
  if (fullest.hostBytes > 0)
    runtime::print("kept by its host: {} of optimizer state\n", formatBytes(fullest.hostBytes));
  for (size_t i = 0; i < std::min(numOwners, fullest.owners.size()); ++i)
    runtime::print("  {:>10}  {}\n", formatBytes(fullest.owners[i].bytes), fullest.owners[i].name);
}

/// Each step begins where the last one ended.
static void printWaterfall(const PlanAnswer::Priced &priced) {
  static constexpr double width = 40;
  double step = priced.simulation.seconds, before = 0;
  runtime::print("a step: {}\n", formatSeconds(step));
  for (const WaterfallStep &part : priced.waterfall) {
    if (part.seconds > 0.0005 * step) {
      auto begin = static_cast<size_t>(width * before / step + 0.5);
      auto end = static_cast<size_t>(width * (before + part.seconds) / step + 0.5);
      runtime::print("  {:<30} {:>9} {:>5.1f} %  {}{}\n", part.name, formatSeconds(part.seconds),
                     100 * part.seconds / step, std::string(begin, ' '),
                     std::string(std::max(end, begin + 1) - begin, '#'));
    }
    before += part.seconds;
  }
}

/// What the search says of its answer.
static void printSearch(const plan::Plan &plan) {
  const plan::Prediction &expected = plan.prediction();
  double gap = expected.step_seconds() > 0
                   ? 100 * (1 - expected.lower_bound_seconds() / expected.step_seconds())
                   : 0;
  runtime::print("searched in {}: {} by its prices, {:.1f} % at most above the best split\n",
                 formatSeconds(expected.search_seconds()), formatSeconds(expected.step_seconds()),
                 gap);
}

//===----------------------------------------------------------------------===//
// Weights and collectives
//===----------------------------------------------------------------------===//

/// What each rank of a mesh holds of the weights; of a model in parts with the mesh.
static void printWeights(const runtime::InspectReport::Mesh &mesh,
                         const runtime::InspectReport &report) {
  int64_t held = report.getClass(mesh.firstRank).weightsBytes, whole = report.wholeWeightsBytes;
  double share = whole > 0 ? 100.0 * double(held) / double(whole) : 100.0;
  runtime::print("weights per rank: {} of {} ({:.0f} %) on {} rank{}{}\n", formatBytes(held),
                 formatBytes(whole), share, mesh.ranks, mesh.ranks == 1 ? "" : "s",
                 report.meshes.size() == 1 ? "" : " of " + mesh.name);
}

namespace {
struct CollectiveSum {
  int64_t count = 0, bytes = 0;
  double seconds = 0;
};
} // namespace

/// Collectives by kind and axes, in the order of the alphabet.
static void printCollectives(const PlanAnswer &answer) {
  std::map<std::string, CollectiveSum> sums;
  for (const PricedCollective &collective : answer.collectives) {
    const runtime::CollectiveRecord &record = collective.record;
    CollectiveSum &sum =
        sums[record.isTransfer()
                 ? fmt::format("transfer from {} to {}", record.mesh, record.to)
                 : fmt::format("{} over {}", record.kind, fmt::join(record.axes, ","))];
    sum.count += record.count;
    sum.bytes += record.count * record.bytes;
    sum.seconds += collective.seconds;
  }
  runtime::printText(sums.empty() ? "collectives: none\n" : "collectives a step:\n");
  for (const auto &[name, sum] : sums)
    runtime::print("  {:4} {:36} {}{}\n", sum.count, name, formatBytes(sum.bytes),
                   answer.priced ? " in " + formatSeconds(sum.seconds) : "");
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static void printTable(const plan::Plan &plan, const PlanAnswer &answer, bool verbose) {
  printDecisions(plan, verbose);
  printMeshes(plan, answer);
  if (plan.has_training())
    printTraining(plan);
  runtime::printText("\nblocks\n");
  for (const BlockSplits &block : answer.blocks)
    printBlock(block);
  runtime::printText("\n");
  if (answer.priced)
    printMemory(plan.prediction(), *answer.priced);
  if (!plan.has_training()) // whose weights are state
    for (const runtime::InspectReport::Mesh &mesh : answer.report.meshes)
      printWeights(mesh, answer.report);
  printCollectives(answer);
  if (answer.priced)
    printWaterfall(*answer.priced);
  if (plan.has_prediction())
    printSearch(plan);
}

void weft::tool::showPlan(const plan::Plan &plan, const PlanAnswer &answer,
                          const PlanSearch &search, size_t topK, const Common &common) {
  if (common.json)
    return printJsonValue(makePlanJson(plan, answer, search, topK));
  if (common.quiet)
    return;
  printTable(plan, answer, common.verbose);
  if (topK > 1 && !search.getCandidates().empty())
    printCandidates(search, topK);
}
