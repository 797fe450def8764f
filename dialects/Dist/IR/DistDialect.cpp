#include "dialects/Dist/IR/DistDialect.h"

#include "dialects/Dist/IR/Sharding.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace weft::dist;

#include "dialects/Dist/IR/DistDialect.cpp.inc"

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/IR/DistOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// dist.sharding, dist.shardings, dist.pinned
//===----------------------------------------------------------------------===//

static LogicalResult verifyShardingEntry(Operation *op, Attribute attribute, Type type) {
  auto sharding = dyn_cast<ShardingAttr>(attribute);
  if (!sharding)
    return op->emitOpError() << "expected a #dist.sharding, got: " << attribute;
  return verifySharding(op, sharding, type);
}

static LogicalResult verifyShardings(Operation *op, Attribute attribute) {
  auto entries = dyn_cast<ArrayAttr>(attribute);
  if (!entries || entries.size() != op->getNumResults())
    return op->emitOpError() << "expected " << kShardingsAttr
                             << " of one entry per result, got: " << attribute << " on "
                             << op->getNumResults() << " results";
  for (auto [entry, type] : llvm::zip_equal(entries, op->getResultTypes()))
    if (failed(verifyShardingEntry(op, entry, type)))
      return failure();
  return success();
}

/// A unit, or one bool a result where several results are not all pinned.
static LogicalResult verifyPinned(Operation *op, Attribute attribute) {
  auto several = dyn_cast<DenseBoolArrayAttr>(attribute);
  if (isa<UnitAttr>(attribute) ||
      (several && several.size() == static_cast<int64_t>(op->getNumResults())))
    return success();
  return op->emitOpError() << "expected " << kPinnedAttr
                           << " to be a unit or one bool per result, got: " << attribute;
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kPinnedAttr)
    return verifyPinned(op, attribute.getValue());
  if (attribute.getName() == kShardingsAttr)
    return verifyShardings(op, attribute.getValue());
  if (attribute.getName() != kShardingAttr)
    return success();
  if (auto weight = dyn_cast<WeightOp>(op))
    return verifyShardingEntry(op, attribute.getValue(), weight.getType());
  if (op->getNumResults() != 1)
    return op->emitOpError() << "expected " << kShardingAttr
                             << " on an operation of one result, got: " << op->getNumResults()
                             << " results";
  Type type = op->getResult(0).getType();
  if (auto global = op->getAttrOfType<TypeAttr>(kGlobalTypeAttr))
    type = global.getValue();
  return verifyShardingEntry(op, attribute.getValue(), type);
}

/// An argument's or result's sharding. In a partitioned function `weft.global_type` holds the type
/// that is split, and the type in the signature is one device's block of it.
static LogicalResult verifySignature(Operation *op, StringRef place, unsigned index, Type type,
                                     DictionaryAttr attributes, Attribute value) {
  auto global = attributes ? attributes.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
  if (failed(verifyShardingEntry(op, value, global ? global.getValue() : type)))
    return failure();
  if (!global)
    return success();
  auto sharding = cast<ShardingAttr>(value);
  Type local = getLocalType(lookupMesh(op, sharding.getMesh()), sharding,
                            cast<RankedTensorType>(global.getValue()));
  if (local != type)
    return op->emitOpError() << "expected " << place << " " << index
                             << " to have the local type of its sharding, got: " << type
                             << " != " << local;
  return success();
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || attribute.getName() != kShardingAttr)
    return success();
  return verifySignature(op, "argument", index, function.getArgumentTypes()[index],
                         function.getArgAttrDict(index), attribute.getValue());
}

LogicalResult DistDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || attribute.getName() != kShardingAttr)
    return success();
  return verifySignature(op, "result", index, function.getResultTypes()[index],
                         function.getResultAttrDict(index), attribute.getValue());
}
