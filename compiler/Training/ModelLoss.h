//===- ModelLoss.h - what a model says it is trained with -------*- C++ -*-===//
//
// Where a frontend knows what a kind of model is trained with, its module says so:
//
//   module attributes {weft.loss = {logits = "logits", labels = "labels", label_shift = 1}} …
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_MODELLOSS_H
#define WEFT_COMPILER_TRAINING_MODELLOSS_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace weft {

/// A cross-entropy over the last dimension of the logits, in which labels of -100 count for
/// nothing.
struct ModelLoss {
  std::string logits, labels;
  int64_t labelShift = 0; ///< the logits of a place are for the label so many places on
};

void setModelLoss(mlir::ModuleOp module, const ModelLoss &loss);

/// None where the module says nothing, or something else.
std::optional<ModelLoss> getModelLoss(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_MODELLOSS_H
