//===- Rank.h - one rank's run ----------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_RANK_H
#define WEFT_RUNTIME_EXECUTOR_RANK_H

#include "runtime/Cpu/Kernels.h"
#include "runtime/Executor/Arenas.h"
#include "runtime/Executor/Run.h"

namespace weft::runtime {

/// One rank from prepare to its report. The calls are made in this order, by every rank.
class Rank {
public:
  Rank(const Executable &executable, Transport &transport, const RunOptions &options, Place &place);

  void prepare();
  void initialise();
  void execute();
  /// Writes and compares outputs.
  void deliver();
  RunReport report();

private:
  struct Step {
    std::unique_ptr<Action> action;
    const char *label; ///< for Place: "GEMM of '/h.0/mlp'"
    const program::Instruction *instruction;
    double seconds = 0;
    int64_t executions = 0;
  };

  void prepareSegment(const program::Segment &segment);
  void executeOnce(int64_t number);
  void countInto(RunReport &report) const;

  const Executable &executable;
  const program::Program &program;
  Transport &transport;
  const RunOptions &options;
  Place &place;
  Position position;
  ThreadPool pool;
  std::vector<std::string> inputPaths;
  std::vector<PortBlock> inputs;
  std::vector<PortBlock> outputs;
  std::vector<std::vector<Step>> segments;
  std::unique_ptr<KernelLibrary> kernels;
  std::unique_ptr<Arenas> arenas;
  double initialiseSeconds = 0;
  std::vector<double> stepSeconds;
  std::vector<Comparison> comparisons;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_RANK_H
