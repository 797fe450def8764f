#include "compiler/Training/MapBuilder.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft;

static RankedTensorType scalarOf(Value value) {
  return RankedTensorType::get({}, elementOf(value));
}

/// Moves what depends on nothing of the block to where the builder is.
static void moveShared(Block &body, OpBuilder &b) {
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    bool isShared = llvm::none_of(op.getOperands(),
                                  [&](Value operand) { return operand.getParentBlock() == &body; });
    if (isShared && !isa<ConstantOp>(op))
      op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }
}

/// Makes values that are read from outside arguments; returns them.
static SmallVector<Value> takeShared(Block &body) {
  llvm::MapVector<Value, Value> shared;
  for (Operation &op : body)
    for (OpOperand &operand : op.getOpOperands()) {
      if (operand.get().getParentBlock() == &body)
        continue;
      auto [known, isNew] = shared.try_emplace(operand.get());
      if (isNew)
        known->second = body.addArgument(operand.get().getType(), operand.get().getLoc());
      operand.set(known->second);
    }
  return llvm::map_to_vector(shared, [](const auto &known) { return known.first; });
}

MapBuilder::Function MapBuilder::build(const std::string &name, ValueRange operands,
                                       llvm::function_ref<SmallVector<Value>(ValueRange)> compute) {
  auto body = std::make_unique<Block>();
  for (Value operand : operands)
    body->addArgument(scalarOf(operand), operand.getLoc());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(body.get());
    func::ReturnOp::create(b, compute(body->getArguments()));
  }
  moveShared(*body, b);
  SmallVector<Value> shared = takeShared(*body);
  auto type = b.getFunctionType(body->getArgumentTypes(), body->getTerminator()->getOperandTypes());
  auto function = func::FuncOp::create(b.getLoc(), name, type);
  function.setPrivate();
  function.getBody().push_back(body.release());
  // In front of the weights, of which there are many: names are looked up in order.
  symbols.insert(function, symbols.getOp()->getRegion(0).front().begin());
  return {function, std::move(shared)};
}

SmallVector<Value> MapBuilder::map(const std::string &name, ValueRange operands,
                                   llvm::function_ref<SmallVector<Value>(ValueRange)> compute) {
  std::vector<const void *> elements;
  for (Value operand : operands)
    elements.push_back(elementOf(operand).getAsOpaquePointer());
  auto [known, isNew] = functions.try_emplace({name, std::move(elements)});
  if (isNew)
    known->second = build(name, operands, compute);
  auto [function, shared] = known->second;
  ArrayRef<int64_t> shape = shapeOf(operands.front());
  auto types = llvm::map_to_vector(function.getResultTypes(), [&](Type type) -> Type {
    return cast<RankedTensorType>(type).clone(shape);
  });
  SmallVector<Value> inputs(operands);
  llvm::append_range(inputs, shared);
  return SmallVector<Value>(MapOp::create(b, types, function.getSymName(), inputs).getResults());
}
