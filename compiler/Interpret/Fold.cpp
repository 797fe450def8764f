#include "compiler/Interpret/Fold.h"

#include "compiler/Interpret/Evaluate.h"
#include "dialects/Weft/IR/WeftDialect.h"

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

static bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= maxFoldedElements;
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
  bool small =
      llvm::all_of(op->getOperandTypes(), isSmall) && llvm::all_of(op->getResultTypes(), isSmall);
  if (!small && !staysSplat(op, operands))
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
