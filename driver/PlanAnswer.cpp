//===- PlanAnswer.cpp - what a plan comes to ------------------------------===//

#include "driver/PlanAnswer.h"

#include "compiler/Cluster/Catalog.h"
#include "driver/PlanReport.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace weft;

const Simulation::RankClass &PlanAnswer::Priced::getFullest() const {
  return *std::max_element(simulation.classes.begin(), simulation.classes.end(),
                           [](const auto &a, const auto &b) { return a.peakBytes < b.peakBytes; });
}

/// What each axis of each mesh is for; parts are in the order of meshes.
static void addAxes(const PlannedModule &planned, const ClusterModel &cluster, PlanAnswer &answer) {
  bool isOnly = answer.report.meshes.size() == 1;
  for (const runtime::InspectReport::Mesh &mesh : answer.report.meshes) {
    std::vector<AxisAnswer> &axes = answer.axes.emplace_back();
    for (AxisTraffic &traffic : sumAxes(mesh, isOnly, answer.collectives, cluster))
      axes.push_back({std::move(traffic), {}});
    auto part = llvm::find_if(planned.parts, [&](const PlannedPart &part) {
      return isOnly || part.mesh.name == mesh.name;
    });
    if (part == planned.parts.end())
      continue;
    for (AxisAnswer &axis : axes)
      if (std::optional<unsigned> number = part->mesh.find(axis.traffic.name))
        axis.splits = describeUse(*part, *number);
  }
}

Result<PlanAnswer> weft::answerPlan(mlir::ModuleOp module, const PlannedModule &planned,
                                    const plan::Plan &plan) {
  Result<program::Executable> executable = lowerPlanned(module);
  if (executable.failed())
    return executable.getOutcome();
  PlanAnswer answer;
  answer.report = runtime::inspectExecutable({"", *executable, 0});
  ClusterModel model;
  std::string problem;
  std::optional<cluster::Cluster> cluster;
  if (!plan.cluster().empty())
    cluster = resolveCluster(plan.cluster(), problem);
  if (!cluster) {
    for (const runtime::InspectedCollective &collective : answer.report.collectives)
      answer.collectives.push_back({collective, 0});
  } else {
    model = makeClusterModel(*cluster);
    try {
      PlanAnswer::Priced &priced =
          answer.priced.emplace(PlanAnswer::Priced{simulateExecutable(*executable, *cluster), {}});
      priced.waterfall = makeWaterfall(priced.simulation,
                                       getFloorSeconds(planned, model, priced.simulation.ranks));
    } catch (const runtime::Error &error) {
      return fail(*module.getContext(), error.getKind(), error.what());
    }
    answer.collectives = priceCollectives(answer.report, *executable, model);
  }
  addAxes(planned, model, answer);
  for (const PlannedPart &part : planned.parts)
    llvm::append_range(answer.blocks, listBlocks(part));
  return answer;
}
