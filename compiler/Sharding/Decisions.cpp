#include "compiler/Sharding/Decisions.h"

#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"

using namespace mlir;
using namespace weft;

/// The function in whose body a value is.
static func::FuncOp functionOf(Value value) {
  return cast<func::FuncOp>(value.getParentBlock()->getParentOp());
}

static bool isPropagated(func::FuncOp function) { return function->hasAttr(dist::kPropagatedAttr); }

/// What `dist.pinned` says of a value; none where it is absent.
static std::optional<bool> pinnedMark(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool pinned =
        functionOf(value).getArgAttr(argument.getArgNumber(), dist::kPinnedAttr) != nullptr;
    return pinned ? std::optional(true) : std::nullopt;
  }
  auto result = cast<OpResult>(value);
  Attribute mark = result.getOwner()->getAttr(dist::kPinnedAttr);
  if (auto several = dyn_cast_or_null<DenseBoolArrayAttr>(mark))
    return several[result.getResultNumber()];
  return mark ? std::optional(true) : std::nullopt;
}

bool weft::isDecided(Value value) {
  return dist::getSharding(value) && pinnedMark(value).value_or(!isPropagated(functionOf(value)));
}

dist::ShardingAttr weft::getKeptSharding(Value value) {
  return isPropagated(functionOf(value)) || isDecided(value) ? dist::getSharding(value)
                                                             : dist::ShardingAttr();
}

dist::ShardingAttr weft::getKeptSharding(func::FuncOp function, unsigned index) {
  return function.getResultAttrOfType<dist::ShardingAttr>(index, dist::kShardingAttr);
}

void weft::pinSharding(Value value, dist::ShardingAttr sharding) {
  Builder builder(value.getContext());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    dist::setSharding(value, sharding);
    functionOf(value).setArgAttr(argument.getArgNumber(), dist::kPinnedAttr, builder.getUnitAttr());
    return;
  }
  Operation *op = value.getDefiningOp();
  SmallVector<bool> pinned;
  for (Value sibling : op->getResults())
    pinned.push_back(sibling == value || isDecided(sibling));
  dist::setSharding(value, sharding);
  if (pinned.size() == 1)
    op->setAttr(dist::kPinnedAttr, builder.getUnitAttr());
  else
    op->setAttr(dist::kPinnedAttr, builder.getDenseBoolArrayAttr(pinned));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Checks what fits no type: the mesh, and whether `what` may be unreduced.
static LogicalResult checkPlace(dist::EmitError emitError, const std::string &what,
                                dist::ShardingAttr sharding, StringRef mesh, bool mayBePartial) {
  if (sharding.getMesh().getValue() != mesh)
    return emitError() << "expected " << what << " to lie on @" << mesh
                       << " as @main does (only dist.transfer crosses meshes), got: "
                       << sharding.getMesh();
  if (sharding.isPartial() && !mayBePartial)
    return emitError() << "expected a sharding of " << what
                       << " that is not partial, since no operation reduces it, got: " << sharding;
  return success();
}

std::string weft::describePlace(Value value) {
  if (std::string name = getSourceName(value); !name.empty())
    return "'" + name + "'";
  if (auto argument = dyn_cast<BlockArgument>(value))
    return "argument " + std::to_string(argument.getArgNumber());
  return "result " + std::to_string(cast<OpResult>(value).getResultNumber());
}

LogicalResult weft::checkSharding(Value value, dist::ShardingAttr sharding, StringRef mesh) {
  Operation *op = value.getDefiningOp();
  auto emitError = [&] { return op ? op->emitOpError() : mlir::emitError(value.getLoc()); };
  bool mayBePartial = op && op->getNumOperands() > 0;
  if (failed(checkPlace(emitError, describePlace(value), sharding, mesh, mayBePartial)))
    return failure();
  return dist::verifySharding(emitError, dist::lookupMesh(functionOf(value), sharding.getMesh()),
                              sharding, value.getType());
}

LogicalResult weft::checkSharding(Operation *place, const std::string &what,
                                  dist::ShardingAttr sharding, Type type, StringRef mesh) {
  auto emitError = [&] { return place->emitOpError(); };
  if (failed(checkPlace(emitError, what, sharding, mesh, /*mayBePartial=*/false)))
    return failure();
  return dist::verifySharding(emitError, dist::lookupMesh(place, sharding.getMesh()), sharding,
                              type);
}
