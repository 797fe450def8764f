//===- Training.h - the steps of a training run -----------------*- C++ -*-===//
//
// Gives steps their data, tells of the loss, writes checkpoints and what the run hands out. All
// ranks make the same calls; after each step they exchange a few numbers (StepStatus), from which
// every one of them draws the same conclusions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_TRAINING_H
#define WEFT_RUNTIME_EXECUTOR_TRAINING_H

#include "runtime/Executor/Checkpoints.h"
#include "runtime/Executor/Gradients.h"
#include "runtime/Executor/NanCheck.h"
#include "runtime/Executor/Run.h"
#include "runtime/Executor/StepLog.h"
#include "runtime/Executor/TrainData.h"

namespace weft::runtime {

/// What training needs of a rank; all of it outlives the training.
struct TrainContext {
  const Executable &executable;
  const program::Program &program;
  Transport &transport;
  const RunOptions &options;
  RankLocation &location;
  const Position &position;
  const std::vector<PortBlock> &inputs;
  const std::vector<PortBlock> &outputs;
  const States &states;
  std::function<PortAccess()> access;
  std::function<void()> waitForCopies; ///< to the device
  std::function<void(int64_t step)> runStep;
};

class Training {
public:
  explicit Training(TrainContext context);

  /// Opens all files, and finds where to begin.
  void prepare();
  /// Whether a checkpoint holds the states' values.
  bool isResumed() const { return resumed.has_value(); }
  /// Reads a checkpoint's states.
  void restore();
  void execute();
  /// Writes what is handed out when all steps are done.
  void deliver();

  /// For the rank, as instructions are executed: those that observe gradients, and all others where
  /// NaN is looked for.
  bool wantsGradients() const { return gradients.has_value(); }
  void observe(uint32_t port, const PortAccess &access) { gradients->take(port, access); }
  NanCheck *getNanCheck() { return nanCheck ? &*nanCheck : nullptr; }

  int64_t getNumSteps() const { return report.steps; }
  const TrainReport &getReport() const { return report; }

private:
  using Clock = std::chrono::steady_clock;

  /// A scalar that is logged.
  struct Scalar {
    size_t output;
    double value = 0;
  };
  /// What a rank tells the others after a step.
  struct StepStatus;

  void checkOutputs() const;
  /// Its time counts from `begin`.
  void runStep(int64_t step, Clock::time_point begin);
  StepStatus makeStatus();
  void conclude(int64_t step, double seconds);
  void checkNumbers(int64_t step, const std::string &firstNan, bool statesHoldNan);
  std::string formatLine(int64_t step, double seconds) const;
  void showProgress(int64_t step, double seconds) const;
  void saveIfDue(int64_t done);
  bool isLoss(const Scalar &scalar) const;

  TrainContext context;
  const TrainOptions &options;
  std::unique_ptr<TrainData> data;
  std::optional<Checkpoints> checkpoints;
  std::optional<Manifest> resumed;
  std::optional<StepLog> log; ///< of rank 0
  std::optional<Gradients> gradients;
  std::optional<NanCheck> nanCheck;
  std::vector<Scalar> scalars;
  int64_t tokens = 0;  ///< that a step reads, by all ranks; 0: the model reads none
  int64_t samples = 0; ///< likewise
  int64_t peakRss = 0; ///< of the rank that has most
  bool showed = false;
  TrainReport report;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_TRAINING_H
