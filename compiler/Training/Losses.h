//===- Losses.h - losses as operations --------------------------*- C++ -*-===//
//
// Every loss is built here, whether the command line, an ONNX operator or an ATen operator asks for
// it. Cross-entropy never gathers logits: of each row of classes it needs
//
//   m = max x      s = Σ exp(x - m)      p = Σ x where the class is the label
//
// and is log s + m - p. Where classes are split these are all-reduces of rows, and the position of
// a class counts over the whole dimension (weft.iota). m is held constant by differentiation, which
// leaves the gradient as it is: softmax(x) less 1 at the label.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_LOSSES_H
#define WEFT_COMPILER_TRAINING_LOSSES_H

#include "dialects/Weft/IR/TensorBuilder.h"

#include <optional>

namespace weft {

/// What the labels of a loss say of the classes, which lie along dimension `axis`.
struct LabelOptions {
  int64_t axis = 1;
  std::optional<int64_t> ignored; ///< the label that counts for nothing
  mlir::Value classWeights;       ///< [classes]; null: 1 each
  double smoothing = 0;           ///< the part of each label that is spread over all classes alike
};

/// A loss for each label, and what each counts in a mean.
struct LabelLosses {
  mlir::Value losses;  ///< each times its weight
  mlir::Value weights; ///< 0 of labels that are ignored
};

/// -log of the probability of each label's class; `labels` are integers, of the logits' shape but
/// for the classes. Labels outside of [0, classes) that are not ignored are errors at run time.
/// Losses are f32 of narrower logits.
LabelLosses buildCrossEntropy(TensorBuilder &b, mlir::Value logits, mlir::Value labels,
                              const LabelOptions &options);

/// The same of logarithms of probabilities, in their own type.
LabelLosses buildNegativeLogLikelihood(TensorBuilder &b, mlir::Value logProbabilities,
                                       mlir::Value labels, const LabelOptions &options);

/// The logarithms of the probabilities that logits stand for, along `axis`.
mlir::Value buildLogSoftmax(TensorBuilder &b, mlir::Value logits, int64_t axis);

/// The losses' sum over the weights': not a number where nothing counts.
mlir::Value buildMean(TensorBuilder &b, const LabelLosses &losses);

/// (x - y)² and, of logits x and probabilities y, the binary cross-entropy, element by element.
mlir::Value buildSquaredError(TensorBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value buildBinaryCrossEntropy(TensorBuilder &b, mlir::Value logits, mlir::Value labels);

/// The sum and the mean of all elements.
mlir::Value buildSum(TensorBuilder &b, mlir::Value x);
mlir::Value buildMean(TensorBuilder &b, mlir::Value x);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_LOSSES_H
