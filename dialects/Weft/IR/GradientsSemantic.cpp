// Gradients of WeftSemantic.td, one case an operation, alphabetical.

#include "dialects/Weft/IR/GradientBuilder.h"

using namespace mlir;
using namespace weft;

LogicalResult AttentionOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult AttentionBackwardOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ConvOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult DotGeneralOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult LayerNormOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult RmsNormOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult RotaryOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult SoftmaxOp::buildGradients(GradientBuilder &) { return failure(); }
