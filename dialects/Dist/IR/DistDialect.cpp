#include "dialects/Dist/IR/DistDialect.h"

#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Support/KeywordEnum.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;
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
// dist.sharding, dist.shardings, dist.pinned, dist.propagated
//===----------------------------------------------------------------------===//

static LogicalResult verifyShardingEntry(EmitError emitError, Operation *op, Attribute attribute,
                                         Type type) {
  auto sharding = dyn_cast<ShardingAttr>(attribute);
  if (!sharding)
    return emitError() << "expected a #dist.sharding, got: " << attribute;
  MeshOp mesh = lookupMesh(op, sharding.getMesh());
  if (!mesh)
    return emitError() << "expected the name of a dist.mesh, got: " << sharding.getMesh();
  return verifySharding(emitError, mesh, sharding, type);
}

/// Of a weight: how it is stored on each of several meshes.
static LogicalResult verifyStorage(WeightOp weight, Attribute attribute) {
  auto emitError = [&] { return weight.emitOpError(); };
  auto entries = dyn_cast<ArrayAttr>(attribute);
  if (!entries || entries.size() < 2)
    return emitError() << "expected " << kShardingsAttr
                       << " of two meshes or more, got: " << attribute;
  llvm::SmallPtrSet<Attribute, 4> meshes;
  for (Attribute entry : entries) {
    if (failed(verifyShardingEntry(emitError, weight, entry, weight.getType())))
      return failure();
    if (!meshes.insert(cast<ShardingAttr>(entry).getMesh()).second)
      return emitError() << "expected one sharding a mesh, got two on "
                         << cast<ShardingAttr>(entry).getMesh();
  }
  return success();
}

static LogicalResult verifyShardings(Operation *op, Attribute attribute) {
  if (auto weight = dyn_cast<WeightOp>(op))
    return verifyStorage(weight, attribute);
  auto entries = dyn_cast<ArrayAttr>(attribute);
  if (!entries || entries.size() != op->getNumResults())
    return op->emitOpError() << "expected " << kShardingsAttr
                             << " of one entry per result, got: " << attribute << " on "
                             << op->getNumResults() << " results";
  for (auto [entry, type] : llvm::zip_equal(entries, op->getResultTypes()))
    if (failed(verifyShardingEntry([&] { return op->emitOpError(); }, op, entry, type)))
      return failure();
  return success();
}

/// A unit, or one bool a result where several results are not all pinned; beside a sharding.
static LogicalResult verifyPinned(Operation *op, Attribute attribute) {
  if (!op->hasAttr(kShardingAttr) && !op->hasAttr(kShardingsAttr))
    return op->emitOpError() << "expected a " << kShardingAttr << " beside " << kPinnedAttr;
  auto several = dyn_cast<DenseBoolArrayAttr>(attribute);
  auto meshes = isa<WeightOp>(op) ? op->getAttrOfType<ArrayAttr>(kShardingsAttr) : ArrayAttr();
  auto count = static_cast<int64_t>(meshes ? meshes.size() : op->getNumResults());
  if (isa<UnitAttr>(attribute) || (several && several.size() == count))
    return success();
  return op->emitOpError() << "expected " << kPinnedAttr << " to be a unit or one bool per "
                           << (meshes ? "mesh" : "result") << ", got: " << attribute;
}

static LogicalResult verifyMesh(Operation *op, Attribute attribute) {
  auto name = dyn_cast<FlatSymbolRefAttr>(attribute);
  if (!isa<FunctionOpInterface>(op) || !name)
    return op->emitOpError() << "expected " << kMeshAttr
                             << " to name a mesh on a function, got: " << attribute;
  if (!lookupMesh(op, name))
    return op->emitOpError() << "expected the name of a dist.mesh, got: " << name;
  return success();
}

static LogicalResult verifyPropagated(Operation *op, Attribute attribute) {
  if (isa<FunctionOpInterface>(op) && isa<UnitAttr>(attribute))
    return success();
  return op->emitOpError() << "expected " << kPropagatedAttr
                           << " to be a unit on a function, got: " << attribute;
}

/// A name that says nothing here is a slip of who wrote it.
static LogicalResult refuseName(EmitError emitError, StringAttr name, ArrayRef<StringRef> known) {
  return emitError() << "expected " << llvm::join(known, " or ") << ", got: " << name;
}

static LogicalResult verifySplit(Operation *op, Attribute attribute) {
  if (isa<DictionaryAttr>(attribute))
    return success();
  return op->emitOpError() << "expected " << kSplitAttr
                           << " to give axes by factor, got: " << attribute;
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  auto emitError = [&] { return op->emitOpError(); };
  if (attribute.getName() == kPinnedAttr)
    return verifyPinned(op, attribute.getValue());
  if (attribute.getName() == kPropagatedAttr)
    return verifyPropagated(op, attribute.getValue());
  if (attribute.getName() == kMeshAttr)
    return verifyMesh(op, attribute.getValue());
  if (attribute.getName() == kShardingsAttr)
    return verifyShardings(op, attribute.getValue());
  if (attribute.getName() == kSplitAttr)
    return verifySplit(op, attribute.getValue());
  if (attribute.getName() != kShardingAttr)
    return refuseName(emitError, attribute.getName(), {kShardingAttr, kShardingsAttr, kPinnedAttr});
  if (op->hasAttr(kShardingsAttr))
    return op->emitOpError() << "expected one of " << kShardingAttr << " and " << kShardingsAttr
                             << ", got both";
  if (auto weight = dyn_cast<WeightOp>(op))
    return verifyShardingEntry(emitError, op, attribute.getValue(), weight.getType());
  if (op->getNumResults() != 1)
    return op->emitOpError() << "expected " << kShardingAttr
                             << " on an operation of one result, got: " << op->getNumResults()
                             << " results";
  Type type = op->getResult(0).getType();
  if (auto global = op->getAttrOfType<TypeAttr>(kGlobalTypeAttr))
    type = global.getValue();
  return verifyShardingEntry(emitError, op, attribute.getValue(), type);
}

/// How an argument arrives that another mesh sends: on the mesh of its sharding.
static LogicalResult verifyArrival(EmitError emitError, Operation *op, Type type,
                                   DictionaryAttr attributes, Attribute arrival) {
  auto sharding = attributes.getAs<ShardingAttr>(kShardingAttr);
  if (!sharding)
    return emitError() << "expected a " << kShardingAttr << " beside " << kArrivalAttr;
  if (failed(verifyShardingEntry(emitError, op, arrival, type)))
    return failure();
  if (FlatSymbolRefAttr mesh = cast<ShardingAttr>(arrival).getMesh(); mesh != sharding.getMesh())
    return emitError() << "expected " << kArrivalAttr << " on the mesh of its sharding, "
                       << sharding.getMesh() << ", got: " << mesh;
  return success();
}

/// What this dialect says of an argument or result. In a partitioned function `weft.global_type`
/// holds the type that is split, and the type in the signature is one device's block of it.
static LogicalResult verifySignature(Operation *op, StringRef place, unsigned index, Type type,
                                     DictionaryAttr attributes, NamedAttribute attribute) {
  auto emitError = [&] { return op->emitOpError() << place << " " << index << ": "; };
  if (attribute.getName() == kPinnedAttr)
    return isa<UnitAttr>(attribute.getValue()) && attributes.contains(kShardingAttr)
               ? success()
               : emitError() << "expected " << kPinnedAttr << " to be a unit beside a "
                             << kShardingAttr << ", got: " << attribute.getValue();
  if (attribute.getName() == kArrivalAttr && place == "argument")
    return verifyArrival(emitError, op, type, attributes, attribute.getValue());
  if (attribute.getName() != kShardingAttr)
    return refuseName(emitError, attribute.getName(), {kShardingAttr, kPinnedAttr});
  auto global = attributes.getAs<TypeAttr>(kGlobalTypeAttr);
  if (failed(verifyShardingEntry(emitError, op, attribute.getValue(),
                                 global ? global.getValue() : type)))
    return failure();
  if (!global)
    return success();
  auto sharding = cast<ShardingAttr>(attribute.getValue());
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
  if (!function)
    return success();
  return verifySignature(op, "argument", index, function.getArgumentTypes()[index],
                         function.getArgAttrDict(index), attribute);
}

LogicalResult DistDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifySignature(op, "result", index, function.getResultTypes()[index],
                         function.getResultAttrDict(index), attribute);
}
