//===- Run.h - running an executable ----------------------------*- C++ -*-===//
//
// prepare: check that the ranks run the same program, that inputs fit, and make commands for the
// rank's device. initialise: allocate arenas, load kernels, read weights and inputs. execute: walk
// the schedule, `repeat` times.
//
// Failures before the first step are agreed on and told once. A failure in a step ends every rank;
// its Error tells the failing rank's place.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_RUN_H
#define WEFT_RUNTIME_EXECUTOR_RUN_H

#include "runtime/Executor/Outputs.h"
#include "runtime/Executor/TrainData.h"
#include "runtime/Executor/Watchdog.h"
#include "runtime/Program/Collectives.h"
#include "runtime/Program/Executable.h"

#include <functional>
#include <memory>

namespace weft::runtime {

/// What `weft train` adds to a run.
struct TrainOptions {
  TrainDataOptions data;
  int64_t steps = 0;             ///< of the whole run, with those before a checkpoint
  std::string checkpoints;       ///< folder; empty: none are written
  int64_t checkpointEvery = 100; ///< steps; one is written at the end as well
  int64_t checkpointsKept = 3;
  bool resume = false;       ///< from the latest checkpoint, where there is one
  std::string log;           ///< JSON lines; empty: none
  std::string exportWeights; ///< .safetensors; empty: none
  std::string dumpGradients; ///< .safetensors, of the first step; empty: none
  bool debugNan = false;
  bool progress = false; ///< a line on the standard error
};

struct RunOptions {
  InputFiles inputs;
  std::string data;       ///< .npz of inputs stacked by step, instead of `inputs`
  std::string stateIn;    ///< .safetensors: the states' values at first; empty: the model's own
  std::string stateOut;   ///< .safetensors to write the states' last values into
  std::string outputDir;  ///< empty: outputs are not written
  std::string expectDir;  ///< empty: outputs are not compared
  std::string weightsDir; ///< empty: weights lie where the executable says
  std::string trace;      ///< .json to write the last step's times into; empty: none are taken
  std::string device;     ///< empty: the one that the executable was compiled for
  int64_t repeat = 1;     ///< steps with the same inputs; states carry on
  int threads = 0;        ///< of the host; 0: its cores
  WatchLimits limits;
  std::optional<TrainOptions> train; ///< in place of inputs, states, outputs and repeat
};

/// Time spent in one instruction, summed over steps.
struct InstructionTime {
  std::string opcode;
  std::string source;
  std::string shapeClass;
  double seconds = 0;
};

/// An output that was written.
struct WrittenOutput {
  std::string name;
  std::string dtype;     ///< the model's
  std::string fileDtype; ///< of NAME.npy: another one where numpy lacks the model's
};

/// What a training run has to tell.
struct TrainReport {
  int64_t firstStep = 0;                               ///< that this run did
  int64_t steps = 0;                                   ///< that this run did
  double seconds = 0;                                  ///< of these, with data and checkpoints
  int64_t tokens = 0;                                  ///< of a step; 0: it reads none
  int64_t samples = 0;                                 ///< of a step
  std::vector<std::pair<std::string, double>> scalars; ///< of the last step
  std::string checkpoint;                              ///< the latest; empty: none
};

/// What a run has to tell; the same on every rank, but for the times of instructions, which are the
/// rank's own.
struct RunReport {
  int64_t rank = 0; ///< whose report this is
  std::string transport;
  std::string device;
  int threadsPerRank = 1;
  double initialiseSeconds = 0;
  std::vector<double> stepSeconds;   ///< of the slowest rank, by step
  std::vector<int64_t> weightsBytes; ///< by rank
  std::vector<int64_t> arenaBytes;   ///< by rank
  std::vector<CopiedBytes> copied;   ///< by rank, between host and device in the whole run
  std::vector<int64_t> peakRss;      ///< by rank, bytes; ranks that are threads share one number
  std::map<std::string, int64_t> instructions; ///< executions a step by opcode, one rank a program
  std::vector<CollectiveRecord> collectives;   ///< executions a step, one rank a program
  std::vector<InstructionTime> times;
  std::vector<WrittenOutput> outputs; ///< with RunOptions::outputDir
  std::vector<Comparison> comparisons;
  std::optional<TrainReport> train;
};

/// Runs all ranks as threads of this process.
RunReport runLocal(std::shared_ptr<const Executable> executable, const RunOptions &options);

/// The same over given transports, one a rank: tests put failing ones among them.
RunReport runThreads(std::shared_ptr<const Executable> executable, const RunOptions &options,
                     std::vector<std::unique_ptr<Transport>> transports);

/// Runs this process's rank under a launcher. A failure that the ranks agree on is told by rank 0
/// and thrown as an AgreedError by all; a failure in a step ends the process. What there is to tell
/// of a good run is told by `tell`, called while all ranks live: launchers kill the others once one
/// has ended with a code other than 0.
RunReport runMpi(const std::string &folder, const RunOptions &options,
                 const std::function<void(const RunReport &)> &tell);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_RUN_H
