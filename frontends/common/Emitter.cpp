#include "frontends/common/Emitter.h"

#include "compiler/Interpret/Evaluate.h"
#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/SourceName.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Results of more bytes than this are left to the compiled program, unless they are splats.
static constexpr int64_t maxFoldedBytes = maxConstantBytes;
/// What costs no more than this, sizes and indices, is folded without end.
static constexpr uint64_t smallFoldingCost = 1 << 16;

void Emitter::nameResult(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  if (op && named.insert(op).second)
    op->setLoc(NameLoc::get(builder.getStringAttr(name)));
}

Location Emitter::location(StringRef operation) {
  return NameLoc::get(builder.getStringAttr(source + "/" + operation.split('.').second));
}

void Emitter::checkResult(RankedTensorType type) const {
  tensorType(type.getShape(), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

const Tensor *Emitter::valueOf(Value value) const {
  Operation *op = value.getDefiningOp();
  auto found = op ? constants.find(op) : constants.end();
  if (found == constants.end())
    return nullptr;
  const Held &held = found->second;
  if (!held.value) {
    const Tensor &table = *valueOf(cast<BroadcastOp>(op).getInput());
    auto results = evaluate(op, table);
    if (!results)
      throw ImportError(llvm::toString(results.takeError()));
    held.value = std::move(results->front());
  }
  return &held.value;
}

/// Checks an operation before it is evaluated; what its verifier says becomes the error.
static void verifyOperation(Operation *op) {
  std::string reason;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    reason = diagnostic.str();
    return success();
  });
  if (failed(verify(op, /*verifyRecursively=*/false)))
    throw ImportError(reason);
}

bool Emitter::isAffordable(Operation *op, ArrayRef<Tensor> operands) {
  uint64_t cost = foldingCost(op, operands);
  bool isLarge = llvm::any_of(op->getResultTypes(), [](Type type) {
    return storageBytes(cast<RankedTensorType>(type)) > maxFoldedBytes;
  });
  if (cost > 0 && (isLarge || cost > maxFoldingCost))
    return false;
  if (cost > smallFoldingCost) {
    if (cost > foldingBudget)
      return false;
    foldingBudget -= cost;
  }
  return true;
}

bool Emitter::fold(Operation *op, SmallVectorImpl<Tensor> &values) {
  auto types = llvm::map_to_vector(op->getResultTypes(), llvm::CastTo<RankedTensorType>);
  if (llvm::all_of(types, [](RankedTensorType type) { return type.getNumElements() == 0; })) {
    for (RankedTensorType type : types)
      values.push_back(Tensor::allocate(type));
    return true;
  }
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return isKnown(operand); }))
    return false;
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands())
    operands.push_back(*valueOf(operand));
  if (!isAffordable(op, operands))
    return false;
  verifyOperation(op);
  auto results = evaluate(op, operands);
  if (!results)
    throw ImportError(llvm::toString(results.takeError()));
  values = std::move(*results);
  return true;
}

/// Spreading a table out would only cost memory: the broadcast stays, its value known all the same,
/// and made when someone asks for it.
bool Emitter::isSpreadTable(Operation *op) const {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast || !isKnown(broadcast.getInput()))
    return false;
  RankedTensorType type = broadcast.getType();
  return type.getNumElements() > ConstantOp::maxElements && storageBytes(type) <= maxFoldedBytes &&
         !valueOf(broadcast.getInput())->isSplat();
}

SmallVector<Value> Emitter::finish(Operation *op) {
  SmallVector<Tensor> values;
  bool folded;
  try {
    if (isSpreadTable(op)) {
      verifyOperation(op);
      if (isAffordable(op, *valueOf(op->getOperand(0))))
        constants[op] = {};
      return {op->getResult(0)};
    }
    folded = fold(op, values);
  } catch (const ImportError &) {
    op->erase();
    throw;
  }
  if (!folded)
    return llvm::to_vector_of<Value>(op->getResults());
  op->erase();
  return llvm::map_to_vector(values, [&](Tensor &value) { return constant(std::move(value)); });
}

/// The same value as a splat where all its elements are equal.
static Tensor withSplat(Tensor value) {
  ArrayRef<char> raw = value.raw();
  size_t size = value.elementBytes();
  if (value.isSplat() || raw.empty() || raw.drop_front(size) != raw.drop_back(size))
    return value;
  Tensor splat = Tensor::allocate(value.type(), /*splat=*/true);
  std::copy_n(raw.begin(), size, splat.mutableData());
  return splat;
}

Value Emitter::constant(Tensor value, Attribute external) {
  value = withSplat(std::move(value));
  // A placeholder until `materialize`: a splat costs nothing, whatever its shape.
  RankedTensorType type = value.type();
  auto zero = DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType()));
  auto op = ConstantOp::create(builder, location(ConstantOp::getOperationName()), type, zero);
  constants[op] = {std::move(value), external};
  return op;
}

Value Emitter::splat(RankedTensorType type, double number) {
  checkResult(type);
  Tensor value = Tensor::allocate(type, /*splat=*/type.getNumElements() > 0);
  if (type.getNumElements() > 0)
    writeNumbers(value.kind(), &number, value.mutableData(), 1);
  return constant(std::move(value));
}

Value Emitter::integers(ArrayRef<int64_t> numbers) {
  auto type = RankedTensorType::get({int64_t(numbers.size())}, builder.getI64Type());
  return constant(tensorOf(type, numbers.vec()));
}

//===----------------------------------------------------------------------===//
// Constants into the module
//===----------------------------------------------------------------------===//

void Emitter::materializeLarge(SymbolTable &symbols, ConstantOp op, const Held &held) {
  std::string key;
  llvm::raw_string_ostream(key) << op.getType() << held.external;
  ArrayRef<char> raw = held.value.raw();
  uint64_t hash = llvm::xxh3_64bits(
      ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(raw.data()), raw.size()));
  std::string &symbol = largeConstants[{hash, key}];
  OpBuilder::InsertionGuard guard(builder);
  if (symbol.empty()) {
    StringRef name = getSourceName(op.getLoc());
    Attribute storage = held.external ? held.external : Attribute(held.value.toResource(name));
    builder.setInsertionPoint(op->getParentOfType<FunctionOpInterface>());
    auto weight =
        WeightOp::create(builder, op.getLoc(), name, op.getType(), storage, WeightKind::Constant);
    symbol = symbols.insert(weight).str();
  }
  builder.setInsertionPoint(op);
  Value load = LoadOp::create(builder, op.getLoc(), op.getType(), symbol);
  op.replaceAllUsesWith(load);
  op.erase();
}

void Emitter::materialize(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<Operation *> operations;
  module.walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : llvm::reverse(operations))
    if (isOpTriviallyDead(op)) {
      constants.erase(op);
      op->erase();
    }
  SmallVector<ConstantOp> left;
  module.walk([&](ConstantOp op) { left.push_back(op); });
  for (ConstantOp op : left) {
    auto found = constants.find(op);
    if (found == constants.end()) // built with its value, by a TensorBuilder
      continue;
    const Held &held = found->second;
    if (held.value.isSplat() || held.value.size() <= ConstantOp::maxElements)
      op.setValueAttr(held.value.toElements());
    else
      materializeLarge(symbols, op, held);
  }
  constants.clear();
}
