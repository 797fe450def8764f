//===- AttentionWeights.h - attention whose weights are changed -*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_ATTENTIONWEIGHTS_H
#define WEFT_DIALECTS_WEFT_IR_ATTENTIONWEIGHTS_H

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// Writes an attention out (see Decomposition.h) with something in between: `change` is given its
/// weights, the softmax [b, h, s, t] in the query's elements, and returns what is multiplied with
/// the value in their place, as dropout does in training. Returns the values of its results.
llvm::SmallVector<mlir::Value>
decomposeAttention(mlir::ImplicitLocOpBuilder &builder, AttentionOp op,
                   llvm::function_ref<mlir::Value(mlir::Value weights)> change);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_ATTENTIONWEIGHTS_H
