//===- PlanTable.cpp - a plan for people and for machines -----------------===//

#include "tools/weft/PlanTable.h"
#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanText.h"
#include "driver/PlanDifference.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Bytes.h"
#include "tools/weft/Json.h"
#include "tools/weft/Output.h"

#include <fmt/format.h>
#include <map>

using namespace weft;
using namespace weft::tool;

namespace {
struct CollectiveSum {
  int64_t count = 0, bytes = 0;
};
} // namespace

/// `data=2, model=4`
static std::string describeAxes(const plan::Mesh &mesh) {
  std::string text;
  for (const plan::Axis &axis : mesh.axes())
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name(), axis.size());
  return text;
}

/// `1.234 s`, `12.3 ms`, `45.6 us`
static std::string formatSeconds(double seconds) {
  if (seconds >= 1)
    return fmt::format("{:.3f} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                         : fmt::format("{:.3g} us", seconds * 1e6);
}

static std::string originName(plan::Origin origin) {
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

/// Collectives by kind and axes, in the order of the alphabet.
static std::map<std::string, CollectiveSum> sumCollectives(const runtime::InspectReport &report) {
  std::map<std::string, CollectiveSum> sums;
  for (const auto &[record, movesWeights] : report.collectives) {
    CollectiveSum &sum =
        sums[record.isTransfer()
                 ? fmt::format("transfer from {} to {}", record.mesh, record.to)
                 : fmt::format("{} over {}", record.kind, fmt::join(record.axes, ","))];
    sum.count += record.count;
    sum.bytes += record.count * record.bytes;
  }
  return sums;
}

/// What each rank of a mesh holds of the weights; of a model in parts with the mesh.
static void printWeights(const runtime::InspectReport::Mesh &mesh,
                         const runtime::InspectReport &report) {
  int64_t held = report.getClass(mesh.firstRank).weightsBytes, whole = report.wholeWeightsBytes;
  double share = whole > 0 ? 100.0 * double(held) / double(whole) : 100.0;
  runtime::print("weights per rank: {} of {} ({:.0f} %) on {} rank{}{}\n", formatBytes(held),
                 formatBytes(whole), share, mesh.ranks, mesh.ranks == 1 ? "" : "s",
                 report.meshes.size() == 1 ? "" : " of " + mesh.name);
}

/// What the search expects, of a plan that was searched.
static void printPrediction(const plan::Plan &plan) {
  if (!plan.has_prediction())
    return;
  const plan::Prediction &expected = plan.prediction();
  double gap = expected.step_seconds() > 0
                   ? 100 * (1 - expected.lower_bound_seconds() / expected.step_seconds())
                   : 0;
  runtime::print("on {}, mesh {{{}}}: {} a step predicted, {:.1f} % at most above the best split; "
                 "searched in {}\n",
                 plan.cluster(), describeAxes(plan.meshes(0)),
                 formatSeconds(expected.step_seconds()), gap,
                 formatSeconds(expected.search_seconds()));
  auto held = static_cast<int64_t>(expected.memory_bytes());
  auto limit = static_cast<int64_t>(expected.memory_limit_bytes());
  runtime::print("memory per device: {}{}\n", formatBytes(held),
                 limit > 0 ? " of " + formatBytes(limit) : "");
}

static void printTable(const plan::Plan &plan, const runtime::InspectReport &report) {
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
    row(decision.value(), describeSharding(plan, decision), originName(decision.origin()),
        decision.reason());
  runtime::printText("\n");
  printPrediction(plan);
  for (const runtime::InspectReport::Mesh &mesh : report.meshes)
    printWeights(mesh, report);
  if (report.collectives.empty())
    runtime::printText("collectives: none\n");
  else
    runtime::printText("collectives a step:\n");
  for (const auto &[name, sum] : sumCollectives(report))
    runtime::print("  {:4} {:36} {}\n", sum.count, name, formatBytes(sum.bytes));
}

static void printJson(const plan::Plan &plan, const runtime::InspectReport &report) {
  nlohmann::ordered_json json;
  json["ranks"] = report.ranks;
  addMeshes(report, json);
  json["weights_bytes"] = nlohmann::ordered_json::array();
  for (int64_t rank = 0; rank < report.ranks; ++rank)
    json["weights_bytes"].push_back(report.getClass(rank).weightsBytes);
  json["weights_bytes_whole"] = report.wholeWeightsBytes;
  if (plan.has_prediction()) {
    const plan::Prediction &expected = plan.prediction();
    json["predicted"] = {{"step_seconds", expected.step_seconds()}};
    json["memory"] = {
        {"limit_bytes", expected.memory_limit_bytes()},
        {"per_rank_bytes", std::vector<double>(report.ranks, expected.memory_bytes())}};
    json["search"] = {{"seconds", expected.search_seconds()},
                      {"cost", expected.step_seconds()},
                      {"lower_bound", expected.lower_bound_seconds()}};
  }
  json["decisions"] = nlohmann::ordered_json::array();
  for (const plan::Decision &decision : plan.decisions()) {
    MeshShape mesh = getMeshShape(plan, decision);
    nlohmann::ordered_json entry{{"value", decision.value()},
                                 {"sharding", str(mesh, fromPlan(decision.sharding(), mesh))},
                                 {"origin", originName(decision.origin())},
                                 {"reason", decision.reason()},
                                 {"bytes", decision.bytes()}};
    if (plan.meshes_size() > 1)
      entry["mesh"] = decision.sharding().mesh();
    json["decisions"].push_back(entry);
  }
  json["collectives"] = nlohmann::ordered_json::array();
  for (const runtime::InspectedCollective &collective : report.collectives)
    json["collectives"].push_back(toJson(collective));
  printJsonValue(json);
}

void weft::tool::showPlan(const plan::Plan &plan, const runtime::InspectReport &report,
                          const Common &common) {
  if (common.json)
    printJson(plan, report);
  else if (!common.quiet)
    printTable(plan, report);
}
