// Gradients of WeftStructural.td and WeftSymbols.td, one case an operation, alphabetical.

#include "dialects/Weft/IR/GradientBuilder.h"

using namespace mlir;
using namespace weft;

LogicalResult BroadcastOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ConcatOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult CumsumOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult GatherOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult GatherElementsOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult GatherNdOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult PadOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ReduceOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ReduceWindowOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ReshapeOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ReverseOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ScatterElementsOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ScatterNdOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult SliceOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult SortOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult TransposeOp::buildGradients(GradientBuilder &) { return failure(); }
LogicalResult ConstantOp::buildGradients(GradientBuilder &) { return success(); }
LogicalResult IotaOp::buildGradients(GradientBuilder &) { return success(); }
LogicalResult LoadOp::buildGradients(GradientBuilder &) { return success(); }
