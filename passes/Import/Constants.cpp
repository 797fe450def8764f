#include "passes/Import/Constants.h"

#include "compiler/Interpret/Evaluate.h"
#include "compiler/Interpret/Fold.h"
#include "compiler/Interpret/Interpret.h"
#include "dialects/Weft/IR/Verify.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace weft;

/// Masks and position tables; more than that is not looked at.
static constexpr int64_t maxKnownElements = int64_t(1) << 24;

/// Of values up to this size the last reading is kept.
static constexpr int64_t maxKeptElements = int64_t(1) << 20;

/// Whether a parameter has only its first value, or none yet: zeros until a checkpoint or training
/// gives it others.
static bool isInitial(WeightOp weight) {
  return weight.getKind() == WeightKind::Parameter && isa<SplatElementsAttr>(weight.getStorage());
}

FailureOr<Tensor> Constants::weightValue(LoadOp load) {
  WeightOp weight = weightOf(load);
  if (!weight || isChanged(weight.getKind()) || isInitial(weight))
    return failure();
  if (auto found = read.find(weight.getSymNameAttr()); found != read.end())
    return found->second ? FailureOr<Tensor>(found->second) : FailureOr<Tensor>(failure());
  llvm::Expected<Tensor> value = readStoredWeight(weight);
  Tensor tensor;
  if (value)
    tensor = *value;
  else
    llvm::consumeError(value.takeError()); // without its file the weight is just not known
  if (!tensor || tensor.storedElements() <= maxKeptElements)
    read[weight.getSymNameAttr()] = tensor;
  return tensor ? FailureOr<Tensor>(tensor) : FailureOr<Tensor>(failure());
}

FailureOr<Tensor> Constants::valueOf(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  auto type = cast<ShapedType>(value.getType());
  if (!op || depth == 0 || op->getNumResults() != 1 || type.getNumElements() > maxKnownElements)
    return failure();
  if (auto load = dyn_cast<LoadOp>(op))
    return weightValue(load);
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Tensor> known = valueOf(operand, depth - 1);
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

FailureOr<Tensor> Constants::valueOf(Value value) {
  constexpr int maxDepth = 16;
  return valueOf(value, maxDepth);
}

Value Constants::create(OpBuilder &builder, Location loc, const Tensor &value, StringRef name) {
  ElementsAttr elements = toConstant(value, name);
  if (elements.isSplat() || elements.getNumElements() <= ConstantOp::maxElements)
    return ConstantOp::create(builder, loc, elements);
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(value.raw().data()), value.raw().size()));
  std::string key;
  llvm::raw_string_ostream(key) << value.type() << " " << hash.high64 << " " << hash.low64;
  StringAttr &symbol = created[key];
  if (!symbol) {
    OpBuilder atTop = OpBuilder::atBlockBegin(&symbols.getOp()->getRegion(0).front());
    symbol = symbols.insert(WeightOp::create(atTop, loc, name,
                                             cast<RankedTensorType>(elements.getType()), elements,
                                             WeightKind::Constant));
  }
  return LoadOp::create(builder, loc, elements.getType(), FlatSymbolRefAttr::get(symbol));
}
