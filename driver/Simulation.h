//===- Simulation.h - what a step takes, without running it -----*- C++ -*-===//
//
//   Result<cluster::Cluster> cluster = findCluster(context, "dgx-a100:2");
//   Simulation simulation = simulateExecutable(runtime::loadExecutable("gpt2.weft").proto,
//   *cluster);
//
// The lists that are simulated are the executable's; those of a plan are lowered as `weft compile`
// does, without code and weights, so that both take the same.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_SIMULATION_H
#define WEFT_DRIVER_SIMULATION_H

#include "compiler/Cluster/cluster.pb.h"
#include "compiler/Simulate/Simulator.h"
#include "driver/MemoryClasses.h"
#include "driver/Outcome.h"
#include "driver/Phases.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Inspect/InspectReport.h"

namespace weft {

/// Instructions of one kind, of one rank of each class.
struct OperationSeconds {
  std::string name; ///< "GEMM", "COLLECTIVE all_reduce"
  int64_t count = 0;
  double seconds = 0; ///< mean over all ranks, of a step
};

struct Simulation {
  struct RankClass {
    int64_t begin = 0, end = 0;                 ///< ranks
    runtime::ArenaBytes arenas;                 ///< what a rank allocates
    int64_t peakBytes = 0;                      ///< all arenas of the device
    int64_t hostBytes = 0;                      ///< that its host keeps for it
    int64_t liveBytes = 0;                      ///< of values, where most are held at a time
    std::vector<HeldValue> owners;              ///< then, largest first
    MemorySums memory{};                        ///< of all arenas, what they are for
    std::array<double, sim::numStreams> busy{}; ///< s of each stream
  };

  std::string cluster; ///< its name
  int64_t ranks = 0;
  double seconds = 0; ///< of a step
  /// Of the step, in which ranks compute nothing: mean over all ranks.
  double bubble = 0;
  std::array<double, sim::numStreams> busy{}; ///< s of each stream, mean over all ranks
  std::vector<RankClass> classes;
  std::vector<OperationSeconds> operations; ///< the longest first
  sim::Program program;
  sim::Result result; ///< with spans and memory

  /// The rank class that allocates most, and what a rank of it does.
  const RankClass &getFullest() const;
  int64_t getPeakBytes() const { return getFullest().peakBytes; }
};

/// A program, and what it takes.
struct SimulatedProgram {
  program::Executable executable;
  Simulation simulation;
};

/// The cluster of a name or file; without one this host, `cpu:N` with a rank for each of its N
/// cores. Reports a name that is none with kind Usage, unless it was read `fromFile`, and what is
/// wrong with a file with kind BadInput.
Result<cluster::Cluster> findCluster(mlir::MLIRContext &context, const std::string &spec,
                                     bool fromFile = false);

/// Simulates an executable that has passed its checks. Throws a runtime::Error where the cluster
/// is too small.
Simulation simulateExecutable(const program::Executable &executable,
                              const cluster::Cluster &cluster);

/// Lowers a planned module and simulates it. Fails with Infeasible where it cannot be lowered, or
/// the cluster is too small.
Result<SimulatedProgram> simulateInPlace(mlir::ModuleOp planned, const cluster::Cluster &cluster,
                                         PhaseObserver *observer = nullptr);

/// The same of a copy.
Result<SimulatedProgram> simulatePlanned(mlir::ModuleOp planned, const cluster::Cluster &cluster);

} // namespace weft

#endif // WEFT_DRIVER_SIMULATION_H
