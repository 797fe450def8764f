//===- Random.h - random numbers as operations ------------------*- C++ -*-===//
//
// A random tensor is a function of a key and of the position of each element in the whole tensor
// (weft.random_bits), so that it is the same however it is split. Keys are made of a seed, of the
// step and of a number of one's own for each random tensor of a step.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_RANDOM_H
#define WEFT_COMPILER_TRAINING_RANDOM_H

#include "dialects/Weft/IR/TensorBuilder.h"

namespace weft {

/// The states of a model that draws random numbers, scalars of ui64: what all of them depend on,
/// and the number of steps done.
inline constexpr llvm::StringLiteral randomSeedName = "random.seed";
inline constexpr llvm::StringLiteral randomStepName = "random.step";

/// The key of random tensor `number` of a step; `seed` and `step` are scalars of ui64.
mlir::Value buildRandomKey(TensorBuilder &b, mlir::Value seed, mlir::Value step, uint64_t number);

/// 64 random bits for each element of a tensor of this shape.
mlir::Value buildRandomBits(TensorBuilder &b, llvm::ArrayRef<int64_t> shape, mlir::Value key);

/// True with this probability, in steps of 2^-64.
mlir::Value buildBernoulli(TensorBuilder &b, llvm::ArrayRef<int64_t> shape, mlir::Value key,
                           double probability);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_RANDOM_H
