//===- UpdateRule.h - optimizers as operations ------------------*- C++ -*-===//
//
// How an optimizer makes a parameter's next value of its gradient, and what it keeps between steps.
// Numbers that all parameters share (the learning rate, bias corrections) are scalars of f64, as
// torch computes them, and are built once a step; what is as large as a parameter is of the
// parameter's type, which is f32 or f64: of narrower ones the caller passes a wide copy.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_UPDATERULE_H
#define WEFT_COMPILER_TRAINING_UPDATERULE_H

#include "compiler/Plan/plan.pb.h"
#include "dialects/Weft/IR/TensorBuilder.h"

#include <memory>

namespace weft {

/// A parameter, or a wide copy of it, at the step's start.
struct TrainedValue {
  mlir::Value value, gradient; ///< of one type
  bool decays;                 ///< by the optimizer's weight decay
};

class UpdateRule {
public:
  struct State {
    llvm::StringRef name; ///< `m` of the state `optimizer.m:NAME`
    mlir::RankedTensorType type;
  };

  virtual ~UpdateRule() = default;

  /// Whether an element's next value depends on what is there of that element alone, and on what
  /// all parameters share.
  virtual bool isElementwise() const { return true; }

  /// What is kept for a parameter of this type; zeros at first.
  virtual llvm::SmallVector<State> listStates(mlir::RankedTensorType type) const = 0;
  /// Builds what all parameters share. `step` is the number of this step from 1 and
  /// `learningRate` its learning rate, scalars of f64.
  virtual void beginStep(TensorBuilder &b, mlir::Value step, mlir::Value learningRate) = 0;
  /// The parameter's next value, then the states', in the order of listStates.
  virtual llvm::SmallVector<mlir::Value> update(TensorBuilder &b, const TrainedValue &parameter,
                                                llvm::ArrayRef<mlir::Value> states) = 0;
};

/// The rule of an optimizer, whose numbers validateTraining has accepted.
std::unique_ptr<UpdateRule> makeUpdateRule(const plan::Optimizer &optimizer);

/// The learning rate at a step, when `done` (a scalar of f64) were done before.
mlir::Value buildLearningRate(TensorBuilder &b, const plan::Optimizer &optimizer, mlir::Value done);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_UPDATERULE_H
