//===- PlanAnswer.cpp - what a plan comes to ------------------------------===//

#include "driver/PlanAnswer.h"

#include "compiler/Cluster/Catalog.h"
#include "driver/PlanReport.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace weft;

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

/// What a program that was simulated says.
static void addPriced(SimulatedProgram program, const PlannedModule &planned,
                      const ClusterModel &model, PlanAnswer &answer) {
  answer.collectives = priceCollectives(answer.report, program.executable, model);
  double floor = getFloorSeconds(planned, model, program.simulation.ranks);
  std::vector<WaterfallStep> waterfall = makeWaterfall(program.simulation, floor);
  answer.priced = {std::move(program.simulation), std::move(waterfall)};
}

Result<PlanAnswer> weft::answerPlan(mlir::ModuleOp module, const PlannedModule &planned,
                                    const plan::Plan &plan, std::optional<SimulatedProgram> program,
                                    std::vector<BlockSplits> blocks) {
  ClusterModel model;
  std::string problem;
  std::optional<cluster::Cluster> cluster;
  if (!plan.cluster().empty())
    cluster = resolveCluster(plan.cluster(), problem);
  PlanAnswer answer;
  if (cluster) {
    model = makeClusterModel(*cluster);
    if (!program) {
      Result<SimulatedProgram> made = simulatePlanned(module, *cluster);
      if (made.failed())
        return made.getOutcome();
      program = std::move(*made);
    }
    runtime::Executable executable{"", std::move(program->executable), 0};
    answer.report = runtime::inspectExecutable(executable);
    program->executable = std::move(executable.proto);
    addPriced(std::move(*program), planned, model, answer);
  } else {
    Result<program::Executable> executable = lowerPlanned(module);
    if (executable.failed())
      return executable.getOutcome();
    answer.report = runtime::inspectExecutable({"", std::move(*executable), 0});
    for (const runtime::InspectedCollective &collective : answer.report.collectives)
      answer.collectives.push_back({collective, 0});
  }
  addAxes(planned, model, answer);
  answer.blocks = blocks.empty() ? listBlocks(planned) : std::move(blocks);
  return answer;
}
