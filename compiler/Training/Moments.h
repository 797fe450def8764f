//===- Moments.h - the arithmetic that optimizers share ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_TRAINING_MOMENTS_H
#define WEFT_COMPILER_TRAINING_MOMENTS_H

#include "dialects/Weft/IR/TensorBuilder.h"

namespace weft {

/// A scalar of any float type in the type of `like`.
mlir::Value spreadScalar(TensorBuilder &b, mlir::Value scalar, mlir::Value like);

/// x times a number, and times a scalar.
mlir::Value scaleBy(TensorBuilder &b, mlir::Value x, double number);
mlir::Value scaleBy(TensorBuilder &b, mlir::Value x, mlir::Value scalar);

/// mean + share·(x - mean)
mlir::Value moveTowards(TensorBuilder &b, mlir::Value mean, mlir::Value x, mlir::Value share);
mlir::Value moveTowards(TensorBuilder &b, mlir::Value mean, mlir::Value x, double share);

/// √(Σ x²) over all elements
mlir::Value buildNorm(TensorBuilder &b, mlir::Value x);

/// Means of a gradient and of its square, decaying by beta1 and beta2.
struct Moments {
  mlir::Value first, second;
};
Moments updateMoments(TensorBuilder &b, const Moments &old, mlir::Value gradient, double beta1,
                      double beta2);

/// first·firstScale / (√second·rootScale + epsilon), by scalars that correct the bias of zeros.
mlir::Value normalizeMoments(TensorBuilder &b, const Moments &moments, mlir::Value firstScale,
                             mlir::Value rootScale, double epsilon);

/// momentum·velocity + gradient
mlir::Value updateVelocity(TensorBuilder &b, mlir::Value velocity, mlir::Value gradient,
                           double momentum);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_MOMENTS_H
