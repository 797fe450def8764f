//===- PlanJson.cpp - a plan for machines ---------------------------------===//

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Schedule/Pipelines.h"
#include "tools/weft/CandidateTable.h"
#include "tools/weft/Json.h"
#include "tools/weft/PlanTable.h"

#include <map>

using namespace weft;
using namespace weft::tool;
using nlohmann::ordered_json;

/// Owners that are listed.
static constexpr size_t numOwners = 10;

static ordered_json listClasses(const MemorySums &memory) {
  ordered_json json;
  for (size_t kind = 0; kind < numMemoryClasses; ++kind)
    json[getMemoryClassName(static_cast<MemoryClass>(kind))] = memory[kind];
  return json;
}

/// What the simulated program takes and holds.
static void addPriced(const plan::Prediction &expected, const PlanAnswer &answer,
                      ordered_json &json) {
  const PlanAnswer::Priced &priced = *answer.priced;
  ordered_json waterfall = ordered_json::array();
  for (const WaterfallStep &step : priced.waterfall)
    waterfall.push_back({{"name", step.name}, {"seconds", step.seconds}});
  json["predicted"] = {{"step_seconds", priced.simulation.seconds}, {"waterfall", waterfall}};
  std::vector<int64_t> perRank, onHost;
  for (const Simulation::RankClass &rankClass : priced.simulation.classes) {
    perRank.insert(perRank.end(), rankClass.end - rankClass.begin, rankClass.peakBytes);
    onHost.insert(onHost.end(), rankClass.end - rankClass.begin, rankClass.hostBytes);
  }
  const Simulation::RankClass &fullest = priced.simulation.getFullest();
  ordered_json owners = ordered_json::array();
  for (size_t i = 0; i < std::min(numOwners, fullest.owners.size()); ++i)
    owners.push_back({{"name", fullest.owners[i].name}, {"bytes", fullest.owners[i].bytes}});
  json["memory"] = {{"limit_bytes", expected.memory_limit_bytes()},
                    {"per_rank_bytes", perRank},
                    {"host_bytes", onHost},
                    {"classes", listClasses(fullest.memory)},
                    {"owners", owners}};
}

static void addSearch(const plan::Prediction &expected, ordered_json &json) {
  json["search"] = {{"seconds", expected.search_seconds()},
                    {"cost", expected.step_seconds()},
                    {"lower_bound", expected.lower_bound_seconds()},
                    {"memory_bytes", expected.memory_bytes()}};
}

static ordered_json listAxes(const std::vector<AxisAnswer> &axes) {
  ordered_json json = ordered_json::array();
  for (const AxisAnswer &axis : axes)
    json.push_back({{"name", axis.traffic.name},
                    {"size", axis.traffic.size},
                    {"tier", axis.traffic.tier},
                    {"splits", axis.splits},
                    {"collectives", axis.traffic.collectives},
                    {"bytes", axis.traffic.bytes},
                    {"seconds", axis.traffic.seconds}});
  return json;
}

static ordered_json describeBlock(const BlockSplits &block) {
  ordered_json weights = ordered_json::array();
  for (const BlockSplits::Group &group : block.weights)
    weights.push_back({{"sharding", group.sharding}, {"names", group.names}});
  return {
      {"name", block.name}, {"count", block.count},   {"parameters", block.parameters},
      {"weights", weights}, {"result", block.result}, {"result_sharding", block.resultSharding}};
}

static ordered_json describeDecision(const plan::Plan &plan, const plan::Decision &decision) {
  MeshShape mesh = getMeshShape(plan, decision);
  ordered_json entry{{"value", decision.value()},
                     {"sharding", str(mesh, fromPlan(decision.sharding(), mesh))},
                     {"origin", getOriginName(decision.origin())},
                     {"reason", decision.reason()},
                     {"bytes", decision.bytes()}};
  if (plan.meshes_size() > 1)
    entry["mesh"] = decision.sharding().mesh();
  return entry;
}

/// Each part of a model is a stage: where it stands, and how long its devices compute, if that is
/// all that they do.
static ordered_json listStages(const plan::Plan &plan, const PlanAnswer &answer) {
  ordered_json stages = ordered_json::array();
  std::map<int64_t, size_t> parts; // by their first rank
  for (const plan::Mesh &mesh : plan.meshes())
    ++parts[mesh.first_device()];
  for (const plan::Mesh &mesh : plan.meshes()) {
    size_t number = std::distance(parts.begin(), parts.find(mesh.first_device()));
    stages.push_back(
        {{"mesh", mesh.name()}, {"devices", {mesh.first_device(), countDevices(mesh)}}});
    if (answer.priced && parts[mesh.first_device()] == 1)
      stages.back()["compute_seconds"] = answer.priced->simulation.classes[number].busy.front();
  }
  return stages;
}

ordered_json weft::tool::makePlanJson(const plan::Plan &plan, const PlanAnswer &answer,
                                      const PlanSearch &search, size_t topK) {
  ordered_json json;
  const runtime::InspectReport &report = answer.report;
  json["ranks"] = report.ranks;
  addMeshes(report, json);
  json["weights_bytes"] = ordered_json::array();
  for (int64_t rank = 0; rank < report.ranks; ++rank)
    json["weights_bytes"].push_back(report.getClass(rank).weightsBytes);
  json["weights_bytes_whole"] = report.wholeWeightsBytes;
  if (!plan.cluster().empty())
    json["cluster"] = plan.cluster();
  if (answer.priced)
    addPriced(plan.prediction(), answer, json);
  if (plan.has_prediction())
    addSearch(plan.prediction(), json);
  if (topK > 1)
    json["candidates"] = listCandidates(search, topK);
  if (search.getSkipped() > 0)
    json["search"]["skipped"] = search.getSkipped();
  json["stages"] = listStages(plan, answer);
  json["schedule"] = nullptr; // parts run one after another
  if (plan.has_training() && plan.cuts_size() > 0)
    json["schedule"] = plan.training().pipeline().empty() ? schedule::listPipelines().front()
                                                          : plan.training().pipeline();
  json["microbatches"] = std::max<int64_t>(1, plan.training().accumulate());
  if (plan.has_training()) {
    json["recompute"] = getRecomputeName(plan.training().recompute());
    json["offload"] = getOffloadName(plan.training().offload());
  }
  json["slices"] = std::max<int64_t>(1, plan.training().slices());
  if (plan.training().slice_lengths_size() > 0)
    json["slice_lengths"] = plan.training().slice_lengths();
  json["axes"] = ordered_json::array();
  for (const std::vector<AxisAnswer> &axes : answer.axes)
    for (ordered_json &axis : listAxes(axes))
      json["axes"].push_back(std::move(axis));
  json["blocks"] = ordered_json::array();
  for (const BlockSplits &block : answer.blocks)
    json["blocks"].push_back(describeBlock(block));
  json["decisions"] = ordered_json::array();
  for (const plan::Decision &decision : plan.decisions())
    json["decisions"].push_back(describeDecision(plan, decision));
  json["collectives"] = ordered_json::array();
  for (const PricedCollective &collective : answer.collectives) {
    json["collectives"].push_back(toJson(static_cast<runtime::InspectedCollective>(collective)));
    if (answer.priced)
      json["collectives"].back()["seconds"] = collective.seconds;
  }
  return json;
}
