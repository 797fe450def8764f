//===- PlanAnswer.cpp - what a plan comes to ------------------------------===//

#include "driver/PlanAnswer.h"

#include "compiler/Cluster/Catalog.h"
#include "driver/PlanReport.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace weft;

/// The parts that stand on a program's mesh.
static llvm::SmallVector<const PlannedPart *> findParts(const PlannedModule &planned,
                                                        const plan::Plan &plan,
                                                        const runtime::InspectReport::Mesh &mesh) {
  llvm::SmallVector<const PlannedPart *> found;
  bool isOnly = planned.parts.size() == 1;
  for (const PlannedPart &part : planned.parts)
    if (isOnly || llvm::any_of(plan.meshes(), [&](const plan::Mesh &other) {
          return other.name() == part.mesh.name && other.first_device() == mesh.firstRank;
        }))
      found.push_back(&part);
  return found;
}

/// What each axis of each mesh is for.
static void addAxes(const PlannedModule &planned, const plan::Plan &plan,
                    const ClusterModel &cluster, PlanAnswer &answer) {
  bool isOnly = answer.report.meshes.size() == 1;
  for (const runtime::InspectReport::Mesh &mesh : answer.report.meshes) {
    std::vector<AxisAnswer> &axes = answer.axes.emplace_back();
    for (AxisTraffic &traffic : sumAxes(mesh, isOnly, answer.collectives, cluster))
      axes.push_back({std::move(traffic), {}});
    llvm::SmallVector<const PlannedPart *> parts = findParts(planned, plan, mesh);
    if (parts.empty())
      continue;
    for (AxisAnswer &axis : axes)
      if (std::optional<unsigned> number = parts.front()->mesh.find(axis.traffic.name))
        axis.splits = describeUse(parts, *number);
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
  addAxes(planned, plan, model, answer);
  answer.blocks = blocks.empty() ? listBlocks(planned) : std::move(blocks);
  return answer;
}
