//===- Simulation.cpp - what a step takes, without running it -------------===//

#include "driver/Simulation.h"

#include "compiler/Cluster/Catalog.h"
#include "driver/PlanReport.h"
#include "driver/PricedProgram.h"
#include "runtime/Executor/Arenas.h"
#include "runtime/Support/Cores.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace weft;

Result<cluster::Cluster> weft::findCluster(mlir::MLIRContext &context, const std::string &spec,
                                           bool fromFile) {
  std::string name = spec.empty() ? fmt::format("cpu:{}", runtime::getNumCores()) : spec;
  std::string problem;
  std::optional<cluster::Cluster> cluster = resolveCluster(name, problem);
  if (!cluster)
    return fail(context, fromFile || isClusterPath(name) ? ErrorKind::BadInput : ErrorKind::Usage,
                problem);
  return std::move(*cluster);
}

/// What a rank of each class holds.
static void describeMemory(const program::Executable &executable, Simulation &simulation) {
  for (size_t i = 0; i < simulation.classes.size(); ++i) {
    const program::Program &program =
        executable.classes(static_cast<int>(executable.ranks(static_cast<int>(i)).rank_class()));
    Simulation::RankClass &rankClass = simulation.classes[i];
    rankClass.arenas = runtime::listArenas(program);
    rankClass.peakBytes = runtime::getArenaBytes(program);
    rankClass.hostBytes = runtime::getHostBytes(program);
    std::vector<HeldValue> values = listHeldValues(executable, program);
    rankClass.owners = listOwnersAtPeak(values);
    rankClass.memory =
        sumMemoryClasses(executable, program, listValuesAtPeak(values), rankClass.peakBytes);
    for (const HeldValue &owner : rankClass.owners)
      rankClass.liveBytes += owner.bytes;
  }
}

/// Sums what instructions take by the kind of operation.
static void sumOperations(Simulation &simulation) {
  std::map<std::string, OperationSeconds> sums;
  for (const sim::Span &span : simulation.result.spans) {
    const sim::RankClass &rankClass = simulation.program.classes[span.rankClass];
    int32_t segment = rankClass.entries[span.entry].segment;
    int32_t name = rankClass.segments[segment].instructions[span.instruction].name;
    OperationSeconds &sum = sums[simulation.program.operations[name]];
    sum.count += 1;
    sum.seconds += (span.end - span.begin) * static_cast<double>(rankClass.ranks) /
                   static_cast<double>(simulation.ranks);
  }
  for (auto &[name, sum] : sums) {
    sum.name = name;
    simulation.operations.push_back(sum);
  }
  std::sort(simulation.operations.begin(), simulation.operations.end(),
            [](const auto &a, const auto &b) {
              return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
            });
}

static void sumStreams(Simulation &simulation) {
  for (size_t i = 0; i < simulation.classes.size(); ++i) {
    const sim::RankClass &rankClass = simulation.program.classes[i];
    simulation.classes[i].busy = simulation.result.classes[i].busy;
    for (int stream = 0; stream < sim::numStreams; ++stream)
      simulation.busy[stream] += simulation.classes[i].busy[stream] *
                                 static_cast<double>(rankClass.ranks) /
                                 static_cast<double>(simulation.ranks);
  }
  double computing = simulation.busy[static_cast<size_t>(sim::Stream::Compute)];
  if (simulation.seconds > 0)
    simulation.bubble = 1 - computing / simulation.seconds;
}

/// Programs that the verifier lets pass come to an end; others are told of.
static void checkEnded(const Simulation &simulation) {
  if (simulation.result.blocked.empty())
    return;
  const sim::Blocked &blocked = simulation.result.blocked.front();
  runtime::throwBadInput("the program waits for ever: {}, execution {} of its segments",
                         simulation.program.classes[blocked.rankClass].name, blocked.entry);
}

Simulation weft::simulateExecutable(const program::Executable &executable,
                                    const cluster::Cluster &cluster) {
  Simulation simulation;
  ClusterModel model = makeClusterModel(cluster);
  simulation.cluster = model.name;
  simulation.program = priceProgram(executable, model, CostConstants());
  for (const program::RankRange &range : executable.ranks()) {
    simulation.classes.push_back({range.begin(), range.end(), {}, 0, 0, 0, {}, {}});
    simulation.ranks += range.end() - range.begin();
  }
  simulation.result = sim::simulate(simulation.program, {.spans = true, .memory = true});
  checkEnded(simulation);
  simulation.seconds = simulation.result.seconds;
  sumStreams(simulation);
  sumOperations(simulation);
  describeMemory(executable, simulation);
  return simulation;
}

const Simulation::RankClass &Simulation::getFullest() const {
  return *std::max_element(classes.begin(), classes.end(),
                           [](const auto &a, const auto &b) { return a.peakBytes < b.peakBytes; });
}

Result<SimulatedProgram> weft::simulateInPlace(mlir::ModuleOp planned,
                                               const cluster::Cluster &cluster,
                                               PhaseObserver *observer) {
  Result<program::Executable> executable = lowerInPlace(planned, observer);
  if (executable.failed())
    return executable.getOutcome();
  try {
    Simulation simulation = simulateExecutable(*executable, cluster);
    return SimulatedProgram{std::move(*executable), std::move(simulation)};
  } catch (const runtime::Error &error) {
    return fail(*planned.getContext(), error.getKind(), error.what());
  }
}

Result<SimulatedProgram> weft::simulatePlanned(mlir::ModuleOp planned,
                                               const cluster::Cluster &cluster) {
  mlir::OwningOpRef<mlir::ModuleOp> module(planned.clone());
  return simulateInPlace(*module, cluster);
}
