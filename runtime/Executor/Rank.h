//===- Rank.h - one rank's run ----------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_RANK_H
#define WEFT_RUNTIME_EXECUTOR_RANK_H

#include "runtime/Executor/Arenas.h"
#include "runtime/Executor/HostCopies.h"
#include "runtime/Executor/Progress.h"
#include "runtime/Executor/Run.h"
#include "runtime/Executor/Staging.h"
#include "runtime/Executor/States.h"
#include "runtime/Executor/StepTrace.h"
#include "runtime/Executor/Steps.h"
#include "runtime/Executor/Training.h"
#include "runtime/Program/Collectives.h"
#include "runtime/Program/Schedule.h"

namespace weft::runtime {

/// One rank from prepare to its report. The calls are made in this order, by every rank.
class Rank {
public:
  /// Opens the rank's device.
  Rank(const Executable &executable, Transport &transport, const RunOptions &options,
       RankLocation &location);

  void prepare();
  /// Where steps train: opens what they need.
  void prepareTraining();
  void initialise();
  void execute();
  /// Writes and compares outputs, and writes states.
  void deliver();
  RunReport report();

private:
  struct Step {
    std::unique_ptr<Command> command; ///< null: an observation
    const char *label;                ///< for Place: "GEMM of '/h.0/mlp'"
    const program::Instruction *instruction;
    double seconds = 0;
    int64_t executions = 0;
  };

  void prepareSegment(const program::Segment &segment);
  void checkMemory() const;
  void executeOnce(int64_t number);
  void executeEntry(const Execution &execution);
  void executeStep(int64_t number, Step &step);
  void observe(int64_t number, const Step &step);
  bool countsForClass() const;
  std::string describeExecutions() const;
  void executeData();
  void openDelivery(int64_t steps);
  int64_t getNumSteps() const;
  PortAccess getAccess() { return {arenas->getBases(), staging, *copies}; }
  void countInto(RunReport &report) const;

  const Executable &executable;
  const program::Program &program;
  Transport &transport;
  const RunOptions &options;
  RankLocation &location;
  Position position;
  CollectiveLanes lanes;
  std::vector<std::string> inputPaths;
  std::vector<PortBlock> inputs;
  std::vector<PortBlock> outputs;
  std::optional<StepData> data; ///< inputs of each step, where a file holds them
  std::optional<States> states;
  std::optional<OutputDelivery> delivery;

  // In the order in which they need each other; the device's streams end first.
  std::unique_ptr<Device> device;
  HostWait wait;
  std::unique_ptr<Arenas> arenas;
  DeviceBases bases; ///< of the entry that is executed
  Staging staging;
  std::unique_ptr<Communicator> communicator;
  std::vector<std::vector<Step>> segments;
  std::vector<std::unique_ptr<Command>> weightCommands;
  HostCopies hostCopies;          ///< has streams, too
  std::unique_ptr<Stream> copies; ///< of weights, inputs and outputs
  std::unique_ptr<Stream> compute;
  Progress progress; ///< of `compute`

  std::unique_ptr<Training> training; ///< where steps train
  std::optional<StepTrace> trace;     ///< where one is asked for

  double initialiseSeconds = 0;
  std::vector<double> stepSeconds;
  std::vector<Comparison> comparisons;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_RANK_H
