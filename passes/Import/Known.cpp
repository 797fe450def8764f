// Values known at compile time: constants, and weights that are small and whose file is at hand.

#include "compiler/Interpret/Evaluate.h"
#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Interpret.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Match.h"

using namespace mlir;
using namespace weft;

/// Masks and position tables; more than that is not looked at.
static constexpr int64_t maxKnownElements = int64_t(1) << 24;

static FailureOr<Tensor> weightValue(LoadOp load) {
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(load, load.getWeightAttr());
  if (!weight || weight.getKind() == WeightKind::State)
    return failure();
  llvm::Expected<Tensor> value = readStoredWeight(weight);
  if (value)
    return *value;
  llvm::consumeError(value.takeError()); // without its file the weight is just not known
  return failure();
}

static FailureOr<Tensor> knownValue(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  auto type = cast<ShapedType>(value.getType());
  if (!op || depth == 0 || op->getNumResults() != 1 || type.getNumElements() > maxKnownElements)
    return failure();
  if (auto load = dyn_cast<LoadOp>(op))
    return weightValue(load);
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Tensor> known = knownValue(operand, depth - 1);
    if (failed(known))
      return failure();
    operands.push_back(*known);
  }
  llvm::Expected<SmallVector<Tensor>> results = evaluate(op, operands);
  if (results)
    return results->front();
  llvm::consumeError(results.takeError());
  return failure();
}

FailureOr<Tensor> weft::knownValue(Value value) {
  constexpr int maxDepth = 16;
  return ::knownValue(value, maxDepth);
}

Value weft::createConstant(OpBuilder &builder, Location loc, const Tensor &value, StringRef name) {
  ElementsAttr elements = toConstant(value, name);
  if (elements.isSplat() || elements.getNumElements() <= ConstantOp::maxElements)
    return ConstantOp::create(builder, loc, elements);
  Operation *table = SymbolTable::getNearestSymbolTable(builder.getInsertionBlock()->getParentOp());
  SymbolTable symbols(table);
  OpBuilder atTop = OpBuilder::atBlockBegin(&table->getRegion(0).front());
  auto weight = WeightOp::create(atTop, loc, name, cast<RankedTensorType>(elements.getType()),
                                 elements, WeightKind::Constant);
  StringAttr symbol = symbols.insert(weight);
  return LoadOp::create(builder, loc, elements.getType(), FlatSymbolRefAttr::get(symbol));
}
