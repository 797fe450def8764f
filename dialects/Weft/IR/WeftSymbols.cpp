// Verifiers and folders of weights, loads, stores and constants (WeftSymbols.td).

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

LogicalResult ExternalAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef path,
                                   int64_t offset, int64_t length) {
  if (offset < 0 || length < 0)
    return emitError() << "expected offset and length not below 0, got: " << offset << ", "
                       << length;
  return success();
}

/// Bytes of a tensor in storage, or nothing where that exceeds 64 bits.
static std::optional<int64_t> storageBytes(ShapedType type) {
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

LogicalResult WeightOp::verify() {
  auto type = cast<ShapedType>(getType());
  if (getSpace() == MemorySpace::Host && getKind() != WeightKind::State)
    return emitOpError() << "expected a state in the host's memory, got a weight of kind "
                         << stringifyWeightKind(getKind());
  if (auto external = dyn_cast<ExternalAttr>(getStorage())) {
    std::optional<int64_t> bytes = storageBytes(type);
    if (!bytes)
      return emitOpError() << "expected a type of fewer than 2^63 bytes, got: " << type;
    if (*bytes != external.getLength())
      return emitOpError() << "expected storage of " << *bytes
                           << " bytes, got: " << external.getLength();
    return success();
  }
  auto elements = dyn_cast<ElementsAttr>(getStorage());
  if (!elements || !(isa<DenseResourceElementsAttr>(elements) || elements.isSplat()))
    return emitOpError()
           << "expected storage to be #weft.external, dense_resource or a splat, got: "
           << getStorage();
  if (elements.getType() != type)
    return emitOpError() << "expected storage of type " << type << ", got: " << elements.getType();
  return success();
}

/// A load or store agrees with its symbol. After partitioning, `weft.global_type` tells the whole
/// tensor's type.
static LogicalResult verifyWeightUse(Operation *op, FlatSymbolRefAttr symbol, Type type,
                                     SymbolTableCollection &symbols) {
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(op, symbol);
  if (!weight)
    return op->emitOpError() << "expected a weft.weight, got: " << symbol;
  if (auto global = op->getAttrOfType<TypeAttr>("weft.global_type"))
    type = global.getValue();
  if (weight.getType() == type)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError() << "expected the weight's type "
                                                    << weight.getType() << ", got: " << type;
  diagnostic.attachNote(weight.getLoc()) << "the weight is here";
  return diagnostic;
}

LogicalResult LoadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyWeightUse(*this, getWeightAttr(), getType(), symbols);
}

/// Checks C2 once for all stores of a block: at the first of them.
static LogicalResult verifyStoredOnce(StoreOp first) {
  llvm::DenseMap<StringAttr, StoreOp> stores;
  for (Operation &op : llvm::make_range(first->getIterator(), first->getBlock()->end())) {
    auto store = dyn_cast<StoreOp>(op);
    if (!store)
      continue;
    auto [earlier, isNew] = stores.try_emplace(store.getWeightAttr().getAttr(), store);
    if (isNew)
      continue;
    InFlightDiagnostic diagnostic = store.emitOpError()
                                    << "expected at most one store of " << store.getWeightAttr();
    diagnostic.attachNote(earlier->second.getLoc()) << "the first one is here";
    return diagnostic;
  }
  return success();
}

LogicalResult StoreOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyWeightUse(*this, getWeightAttr(), getValue().getType(), symbols)))
    return failure();
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!isChanged(weight.getKind())) {
    InFlightDiagnostic diagnostic = emitOpError()
                                    << "expected a weft.weight of kind state or trained, got: "
                                    << stringifyWeightKind(weight.getKind());
    diagnostic.attachNote(weight.getLoc()) << "the weight is here";
    return diagnostic;
  }
  Operation *before = getOperation()->getPrevNode();
  while (before && !isa<StoreOp>(before))
    before = before->getPrevNode();
  return before ? success() : verifyStoredOnce(*this);
}

LogicalResult ConstantOp::verify() {
  ElementsAttr value = getValue();
  if (value.isSplat() || value.getNumElements() <= maxElements)
    return success();
  return emitOpError() << "expected a splat or at most " << maxElements
                       << " elements (larger constants are weights), got: "
                       << value.getNumElements();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
