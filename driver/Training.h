//===- Training.h - a model becomes a training step -------------*- C++ -*-===//

#ifndef WEFT_DRIVER_TRAINING_H
#define WEFT_DRIVER_TRAINING_H

#include "compiler/Plan/plan.pb.h"
#include "driver/Outcome.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace weft {

/// How to train, as on the command line. What is not given is as torch has it.
struct TrainingOptions {
  std::string optimizer; ///< sgd, adam, adamw, lamb, adafactor; empty: no training
  std::optional<double> learningRate, epsilon, weightDecay, momentum, clipNorm;
  std::string betas; ///< A,B
  bool nesterov = false;
  std::string noDecay; ///< a regular expression
  std::string loss, lossOutput, logits, labels;
  int64_t ignoreIndex = -100, classAxis = -1, labelShift = 0;
  std::string parameters; ///< a file of names, one a line, or a regular expression
  std::string schedule = "constant";
  int64_t warmup = 0, totalSteps = 0;
  std::string lossScale;             ///< a number, or `dynamic`
  std::optional<int64_t> accumulate; ///< none: the search's choice where there is one, else 1
  int64_t accumulateBatches = 1, optimizerSharding = 0;
  std::string recompute; ///< empty: the search's choice where there is one, else none
  std::string offload;   ///< likewise
  uint64_t seed = 0;     ///< of the model's own random numbers
};

/// What a plan says of the options; without a loss where they name none. What they do not give of
/// microbatches (0 of them), of what is computed again and of what hosts keep (AUTO) is open. Fails
/// with Usage.
Result<plan::Training> readTrainingOptions(mlir::MLIRContext &context,
                                           const TrainingOptions &options);

/// Decides what is still open and no search will choose: one microbatch, nothing computed again or
/// kept by hosts.
void closeTraining(plan::Training &training);
/// The same of what hosts keep alone.
void closeOffload(plan::Training &training);

/// Gives a training that has no loss the one that the model brings. Fails with Usage (BadInput
/// where the training was read from a file) where it brings none.
Outcome completeLoss(mlir::ModuleOp module, plan::Training &training, bool fromFile);

/// Makes a training step of a loaded model: loss, gradients, optimizer. The model's fingerprint
/// becomes that of the step, which depends on the versions of the transforms. Fails with Usage
/// where the request does not fit the model (BadInput where it was read from a file), with BadInput
/// where the model cannot be trained, with Infeasible where the compiler cannot yet. A step that is
/// only tried gets no fingerprint and is not verified.
Outcome trainModule(mlir::ModuleOp module, const plan::Training &training, bool fromFile,
                    bool isTrial = false);

// Much of that is the same for trainings that differ in microbatches, schedule, or what they
// compute again. Where several of them are tried, it is done once, and each is made of a copy:
//
//   trainModule(module, training, …) is beginTraining(module, training, …) and then
//                                       finishTraining(module, training, …)

/// The same of trainings whose steps begin alike.
std::string getTrainingKey(const plan::Training &training);

/// Does what all trainings of one key have in common.
Outcome beginTraining(mlir::ModuleOp module, const plan::Training &training, bool fromFile,
                      bool isTrial);

/// Does the rest, for a training of the key that was begun. Fails with BadInput.
Outcome finishTraining(mlir::ModuleOp module, const plan::Training &training, bool isTrial);

} // namespace weft

#endif // WEFT_DRIVER_TRAINING_H
