//===- StagedSteps.h - steps in stages, planned and simulated ---*- C++ -*-===//
//
// A trial of stages that are cut and stand on meshes: its splits are searched, its step is lowered
// and simulated, and where a device would hold too much the search is held to less.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_STAGEDSTEPS_H
#define WEFT_DRIVER_STAGEDSTEPS_H

#include "compiler/Plan/plan.pb.h"
#include "compiler/Search/PartAnswers.h"
#include "compiler/Search/SearchDecisions.h"
#include "compiler/Search/SliceCurve.h"
#include "driver/WholeStep.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace weft {

/// What is known of a plan whose step was simulated.
struct StagedStep {
  double seconds = std::numeric_limits<double>::infinity(); ///< where it cannot be
  std::vector<double> computing;                            ///< s, by group of devices
  std::vector<SliceTime> slices;                            ///< where sequences go in several
  plan::Plan complete;                                      ///< where it can be
  BytesByGroup limits;                                      ///< that its program fits with
};

/// Steps of a model, which is not trained yet, each planned and simulated once.
class StagedSteps {
public:
  /// Trials that are simulated at once, on one thread or more.
  static constexpr unsigned atOnce = 2;

  explicit StagedSteps(mlir::ModuleOp module) : module(module) {}

  /// What the steps of plans take, some simulated at once. A step that takes `most` s or
  /// longer need not fit. Says nothing.
  std::vector<const StagedStep *> simulate(llvm::ArrayRef<plan::Plan> trials,
                                           double most = std::numeric_limits<double>::infinity());
  const StagedStep &simulate(const plan::Plan &trial,
                             double most = std::numeric_limits<double>::infinity()) {
    return *simulate(llvm::ArrayRef(trial), most).front();
  }

private:
  StagedStep simulateStep(plan::Plan trial, BytesByGroup limits, double most,
                          std::shared_ptr<PartAnswers> answers);

  mlir::ModuleOp module;
  WholeStep whole;                         ///< that of all trials, as far as it is the same
  std::map<std::string, StagedStep> known; ///< by plan
  PartAnswers answers;
  /// To what the search was held where it held too much, by what that depends on.
  std::map<std::string, BytesByGroup> limits;
};

} // namespace weft

#endif // WEFT_DRIVER_STAGEDSTEPS_H
