//===- StepControl.h - what bounds and skips steps --------------*- C++ -*-===//
//
// Numbers about all gradients of a step together: the factor that clips them, whether one of them
// overflowed, and the scale of the loss that follows. What is summed over gradients is a sum, so
// that over a mesh all of them can be one all-reduce.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_STEPCONTROL_H
#define WEFT_COMPILER_TRAINING_STEPCONTROL_H

#include "dialects/Weft/IR/TensorBuilder.h"

namespace weft {

/// What gradients of a norm of √`squares` (a scalar) are multiplied by so that it is at most
/// `limit`, as torch.nn.utils.clip_grad_norm_ has it.
mlir::Value buildClipFactor(TensorBuilder &b, mlir::Value squares, double limit);

/// The number of infinite elements and of those that are no number, an f32 scalar.
mlir::Value countStrays(TensorBuilder &b, mlir::Value gradient);

/// Whether a scalar is 0.
mlir::Value isZero(TensorBuilder &b, mlir::Value scalar);

/// 1 / scalar
mlir::Value invert(TensorBuilder &b, mlir::Value scalar);

/// `value` where a scalar of i1 is true, else `other`, of any shape.
mlir::Value selectWhole(TensorBuilder &b, mlir::Value condition, mlir::Value value,
                        mlir::Value other);

/// A scale of the loss, and the number of steps since it was changed.
struct LossScaleState {
  mlir::Value scale, steps;
};

/// The next, as torch.amp.GradScaler has it: half the scale where gradients overflow, twice after
/// 2000 steps at which none did.
LossScaleState adaptLossScale(TensorBuilder &b, const LossScaleState &old, mlir::Value isGood);

/// An i64 scalar.
mlir::Value buildCount(TensorBuilder &b, mlir::MLIRContext *context, int64_t number);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_STEPCONTROL_H
