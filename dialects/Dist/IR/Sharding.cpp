#include "dialects/Dist/IR/Sharding.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

MeshOp weft::dist::lookupMesh(Operation *op, FlatSymbolRefAttr name) {
  return SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, name);
}

SmallVector<AxisRefAttr> weft::dist::getAxisRefs(ArrayAttr axes) {
  return llvm::to_vector(axes.getAsRange<AxisRefAttr>());
}

bool weft::dist::overlaps(AxisRefAttr a, AxisRefAttr b) {
  if (a.getName() != b.getName())
    return false;
  if (a.isFullAxis() || b.isFullAxis())
    return true;
  return a.getPre() < b.getPre() * b.getSize() && b.getPre() < a.getPre() * a.getSize();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyAxis(EmitError emitError, MeshOp mesh, AxisRefAttr axis) {
  int64_t size = mesh.getAxisSize(axis.getName());
  if (size == 0)
    return emitError() << "expected an axis of mesh @" << mesh.getSymName()
                       << ", got: " << axis.getName();
  if (axis.isFullAxis())
    return success();
  if (axis.getPre() < 1 || axis.getSize() < 2 || axis.getSize() == size ||
      size % (axis.getPre() * axis.getSize()) != 0)
    return emitError() << "expected a proper sub-axis of " << axis.getName() << "=" << size
                       << ", got: (" << axis.getPre() << ")" << axis.getSize();
  return success();
}

/// Sub-axes of one axis that do not overlap must nest: the minor one starts at a multiple of the
/// major one's end.
static bool nest(AxisRefAttr a, AxisRefAttr b) {
  if (a.getName() != b.getName())
    return true;
  if (b.getPre() < a.getPre())
    std::swap(a, b);
  return b.getPre() % (a.getPre() * a.getSize()) == 0;
}

LogicalResult weft::dist::verifyAxes(EmitError emitError, MeshOp mesh, ArrayRef<AxisRefAttr> axes) {
  for (auto [index, axis] : llvm::enumerate(axes)) {
    if (failed(verifyAxis(emitError, mesh, axis)))
      return failure();
    for (AxisRefAttr earlier : axes.take_front(index)) {
      if (overlaps(axis, earlier))
        return emitError() << "expected each axis at most once, got twice: " << axis.getName();
      if (!nest(axis, earlier))
        return emitError() << "expected sub-axes of " << axis.getName() << " that nest, got: ("
                           << earlier.getPre() << ")" << earlier.getSize() << " and ("
                           << axis.getPre() << ")" << axis.getSize();
    }
  }
  return success();
}

LogicalResult weft::dist::verifySharding(EmitError emitError, MeshOp mesh, ShardingAttr sharding,
                                         Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return emitError() << "expected a sharding on a tensor of static shape, got: " << type;
  if (static_cast<int64_t>(sharding.getDims().size()) != tensor.getRank())
    return emitError() << "expected one sharding entry per dimension, got: "
                       << sharding.getDims().size() << " != " << tensor.getRank();
  SmallVector<AxisRefAttr> used(sharding.getPartial());
  for (DimShardingAttr dim : sharding.getDims())
    llvm::append_range(used, dim.getAxes());
  if (failed(verifyAxes(emitError, mesh, used)))
    return failure();
  for (auto [index, dim] : llvm::enumerate(sharding.getDims())) {
    int64_t size = tensor.getDimSize(index), shards = mesh.getSize(dim.getAxes());
    int64_t unit = dim.getUnit();
    if (unit != 1 && (size % unit != 0 || !isPadded(size, shards, unit)))
      return emitError() << "expected dimension " << index
                         << " to be padded by blocks of its unit, which divides it, got: " << size
                         << " in units of " << unit << " over " << shards;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Types and annotations
//===----------------------------------------------------------------------===//

RankedTensorType weft::dist::getLocalType(MeshOp mesh, ShardingAttr sharding,
                                          RankedTensorType global) {
  SmallVector<int64_t> shape(global.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.getDims()))
    size = localExtent(size, mesh.getSize(dim.getAxes()), dim.getUnit());
  return global.clone(shape);
}

ShardingAttr weft::dist::getSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
    return function
               ? function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr)
               : ShardingAttr();
  }
  auto result = cast<OpResult>(value);
  if (auto several = result.getOwner()->getAttrOfType<ArrayAttr>(kShardingsAttr))
    return result.getResultNumber() < several.size()
               ? dyn_cast<ShardingAttr>(several[result.getResultNumber()])
               : ShardingAttr();
  return result.getOwner()->getNumResults() == 1
             ? result.getOwner()->getAttrOfType<ShardingAttr>(kShardingAttr)
             : ShardingAttr();
}

void weft::dist::setSharding(Value value, ShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    function.setArgAttr(argument.getArgNumber(), kShardingAttr, sharding);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (op->getNumResults() == 1 && !op->hasAttr(kShardingsAttr)) {
    op->setAttr(kShardingAttr, sharding);
    return;
  }
  SmallVector<Attribute> entries;
  for (Value sibling : op->getResults()) {
    ShardingAttr entry = getSharding(sibling);
    int64_t rank = cast<ShapedType>(sibling.getType()).getRank();
    entries.push_back(entry ? entry : ShardingAttr::getReplicated(sharding.getMesh(), rank));
  }
  entries[result.getResultNumber()] = sharding;
  op->setAttr(kShardingsAttr, ArrayAttr::get(op->getContext(), entries));
}

//===----------------------------------------------------------------------===//
// Storage of weights
//===----------------------------------------------------------------------===//

namespace {
/// One mesh's entry of a weight's storage.
struct Storage {
  ShardingAttr sharding;
  bool pinned;
};
} // namespace

static SmallVector<Storage, 2> readStorage(WeightOp weight) {
  SmallVector<Storage, 2> entries;
  if (auto sharding = weight->getAttrOfType<ShardingAttr>(kShardingAttr))
    entries.push_back({sharding, weight->hasAttr(kPinnedAttr)});
  auto several = weight->getAttrOfType<ArrayAttr>(kShardingsAttr);
  auto pinned = weight->getAttrOfType<DenseBoolArrayAttr>(kPinnedAttr);
  for (auto [index, entry] : llvm::enumerate(several ? several.getValue() : ArrayRef<Attribute>()))
    entries.push_back(
        {cast<ShardingAttr>(entry), pinned ? pinned[index] : weight->hasAttr(kPinnedAttr)});
  return entries;
}

static std::optional<Storage> findStorage(WeightOp weight, StringRef mesh) {
  for (const Storage &entry : readStorage(weight))
    if (entry.sharding.getMesh().getValue() == mesh)
      return entry;
  return std::nullopt;
}

SmallVector<ShardingAttr> weft::dist::getStorageShardings(WeightOp weight) {
  return llvm::map_to_vector(readStorage(weight),
                             [](const Storage &entry) { return entry.sharding; });
}

ShardingAttr weft::dist::getStorageSharding(WeightOp weight, StringRef mesh) {
  std::optional<Storage> entry = findStorage(weight, mesh);
  return entry ? entry->sharding : ShardingAttr();
}

bool weft::dist::isStoragePinned(WeightOp weight, StringRef mesh) {
  std::optional<Storage> entry = findStorage(weight, mesh);
  return entry && entry->pinned;
}

void weft::dist::setStorageSharding(WeightOp weight, ShardingAttr sharding, bool pinned) {
  SmallVector<Storage, 2> entries = readStorage(weight);
  auto same = llvm::find_if(entries, [&](const Storage &entry) {
    return entry.sharding.getMesh() == sharding.getMesh();
  });
  if (same != entries.end())
    *same = {sharding, pinned};
  else
    entries.push_back({sharding, pinned});
  Builder builder(weight.getContext());
  for (StringRef name : {kShardingAttr, kShardingsAttr, kPinnedAttr})
    weight->removeAttr(name);
  SmallVector<Attribute> shardings;
  SmallVector<bool> pins;
  for (const Storage &entry : entries) {
    shardings.push_back(entry.sharding);
    pins.push_back(entry.pinned);
  }
  if (entries.size() == 1)
    weight->setAttr(kShardingAttr, shardings.front());
  else
    weight->setAttr(kShardingsAttr, builder.getArrayAttr(shardings));
  if (llvm::all_of(pins, [](bool pin) { return pin; }))
    weight->setAttr(kPinnedAttr, builder.getUnitAttr());
  else if (llvm::is_contained(pins, true))
    weight->setAttr(kPinnedAttr, builder.getDenseBoolArrayAttr(pins));
}
