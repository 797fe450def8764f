#include "compiler/Interpret/Fold.h"

#include "compiler/Interpret/Evaluate.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace weft;

static FailureOr<Tensor> read(Attribute storage) {
  auto elements = dyn_cast<ElementsAttr>(storage);
  if (!elements)
    return failure();
  llvm::Expected<Tensor> tensor = Tensor::fromElements(elements);
  if (tensor)
    return std::move(*tensor);
  llvm::consumeError(tensor.takeError());
  return failure();
}

FailureOr<Tensor> weft::constantValue(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return read(constant.getValue());
  auto load = dyn_cast_or_null<LoadOp>(op);
  if (!load)
    return failure();
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(load, load.getWeightAttr());
  if (!weight || weight.getKind() != WeightKind::Constant)
    return failure();
  return read(weight.getStorage());
}

/// Whether evaluating keeps splats as splats, whatever the size.
static bool staysSplat(Operation *op, ArrayRef<Tensor> operands) {
  return llvm::all_of(operands, [](const Tensor &tensor) { return tensor.isSplat(); }) &&
         (op->hasTrait<OpTrait::Elementwise>() ||
          isa<BroadcastOp, ReshapeOp, ReverseOp, SliceOp, TransposeOp>(op));
}

static uint64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements()
                                           : std::numeric_limits<uint64_t>::max();
}

uint64_t weft::foldingCost(Operation *op, ArrayRef<Tensor> operands) {
  if (staysSplat(op, operands))
    return 0;
  uint64_t cost = 0;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    cost = llvm::SaturatingMultiplyAdd<uint64_t>(
        countElements(type),
        llvm::divideCeil(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8), cost);
  if (isa<ReduceWindowOp>(op)) // a window may be as large as what it slides over
    cost = std::max(cost, llvm::SaturatingMultiply(countElements(op->getOperand(0).getType()),
                                                   countElements(op->getResult(0).getType())));
  if (isa<AttentionOp, AttentionBackwardOp, ConvOp, ConvKernelGradientOp, DotGeneralOp>(op))
    cost = std::max(cost, llvm::SaturatingMultiply(countElements(op->getOperand(0).getType()),
                                                   countElements(op->getOperand(1).getType())));
  return cost;
}

FailureOr<SmallVector<Tensor>> weft::foldConstants(Operation *op) {
  if (!isa_and_present<WeftDialect>(op->getDialect()) || op->getNumResults() == 0)
    return failure();
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Tensor> value = constantValue(operand);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  if (foldingCost(op, operands) > maxFoldingCost)
    return failure();
  llvm::Expected<SmallVector<Tensor>> results = evaluate(op, operands);
  if (results)
    return std::move(*results);
  llvm::consumeError(results.takeError());
  return failure();
}

ElementsAttr weft::toConstant(const Tensor &value, StringRef name) {
  if (value.isSplat() || value.size() <= ConstantOp::maxElements)
    return value.toElements();
  return value.toResource(name);
}
