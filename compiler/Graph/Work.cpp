#include "compiler/Graph/Work.h"

#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

int64_t weft::countElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 0;
}

int64_t weft::countBytes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.getElementType().isIntOrFloat())
    return 0;
  return countElements(type) * llvm::divideCeil(shaped.getElementTypeBitWidth(), 8);
}

/// Elements of a value.
static int64_t sizeOf(Value value) { return countElements(value.getType()); }

/// Of so many products over the queries' and keys' size, and so many over the values'.
template <typename Op> static int64_t countAttention(Op op, int64_t ofQueries, int64_t ofValues) {
  auto query = cast<ShapedType>(op.getQuery().getType());
  auto value = cast<ShapedType>(op.getValue().getType());
  int64_t queries = query.getNumElements() / query.getShape().back();
  int64_t pairs = queries * value.getDimSize(2);
  int64_t flops =
      2 * pairs * (ofQueries * query.getShape().back() + ofValues * value.getShape().back());
  return op.getCausal() && query.getDimSize(2) == value.getDimSize(2) ? flops / 2 : flops;
}

std::optional<int64_t> weft::countProductFlops(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<AttentionOp>([](AttentionOp op) { return countAttention(op, 1, 1); })
      .Case<AttentionBackwardOp>(
          [](AttentionBackwardOp op) { return countAttention(op, /*scores, dQ, dK*/ 3, 2); })
      .Case<ConvOp>([](ConvOp op) {
        int64_t window =
            sizeOf(op.getKernel()) / cast<ShapedType>(op.getKernel().getType()).getDimSize(0);
        return 2 * sizeOf(op.getResult()) * window;
      })
      .Case<ConvKernelGradientOp>([](ConvKernelGradientOp op) {
        int64_t window =
            sizeOf(op.getResult()) / cast<ShapedType>(op.getResult().getType()).getDimSize(0);
        return 2 * sizeOf(op.getGradient()) * window;
      })
      .Case<DotGeneralOp>([](DotGeneralOp op) {
        int64_t depth = 1;
        for (int64_t dim : op.getLhsContract())
          depth *= cast<ShapedType>(op.getLhs().getType()).getDimSize(dim);
        return 2 * sizeOf(op.getResult()) * depth;
      })
      .Default(std::nullopt);
}

/// Of the function of scalars that is applied to each element.
static int64_t countOfElement(MapOp map) {
  auto body = map.lookupFunction().front().without_terminator();
  return llvm::count_if(body, [](Operation &op) { return !isa<ConstantOp>(op); });
}

int64_t weft::countFlops(Operation *op) {
  if (std::optional<int64_t> ofProducts = countProductFlops(op))
    return *ofProducts;
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](MapOp map) { return countOfElement(map) * sizeOf(map.getResult(0)); })
      .Case<BroadcastOp, ConcatOp, ConstantOp, GatherElementsOp, GatherNdOp, GatherOp, IotaOp,
            LoadOp, PadOp, ReshapeOp, ReverseOp, SliceOp, StoreOp, TransposeOp>(
          [](Operation *) { return 0; })
      .Default([](Operation *op) {
        int64_t most = 0;
        for (Value value : op->getOperands())
          most = std::max(most, sizeOf(value));
        for (Value value : op->getResults())
          most = std::max(most, sizeOf(value));
        return most;
      });
}
