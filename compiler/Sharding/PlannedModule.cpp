#include "compiler/Sharding/PlannedModule.h"

#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

std::optional<PlannedModule> PlannedModule::get(ModuleOp module) {
  PlannedModule result;
  result.module = module;
  auto meshes = llvm::to_vector(module.getOps<dist::MeshOp>());
  if (meshes.size() != 1) {
    module.emitError() << "expected one dist.mesh to shard over, got: " << meshes.size();
    return std::nullopt;
  }
  result.main = module.lookupSymbol<func::FuncOp>("main");
  if (!result.main || result.main.isExternal()) {
    module.emitError() << "expected a function @main with a body";
    return std::nullopt;
  }
  result.mesh = getMeshShape(meshes.front());
  result.function = std::make_unique<FunctionGraph>(result.main);
  result.shardings = std::make_unique<Propagation>(result.function->graph);
  for (auto [index, value] : llvm::enumerate(result.function->values))
    if (auto load = value.getDefiningOp<LoadOp>())
      result.loads[load.getWeight()].push_back(index);
  if (failed(result.readPins()) || failed(result.readStoragePins()))
    return std::nullopt;
  return result;
}

LogicalResult PlannedModule::readPins() {
  for (auto [index, value] : llvm::enumerate(function->values)) {
    if (!isPinned(value))
      continue;
    dist::ShardingAttr attr = dist::getSharding(value);
    Operation *place = value.getDefiningOp() ? value.getDefiningOp() : main.getOperation();
    if (!attr)
      return place->emitOpError() << "expected a dist.sharding beside dist.pinned";
    if (failed(dist::verifySharding(place, attr, value.getType())))
      return failure();
    shardings->pin(index, fromAttr(attr, mesh));
  }
  return success();
}

LogicalResult PlannedModule::readStoragePins() {
  for (auto weight : module.getOps<WeightOp>()) {
    auto attr = weight->getAttrOfType<dist::ShardingAttr>(dist::kShardingAttr);
    if (!attr || !weight->hasAttr(dist::kPinnedAttr))
      continue;
    if (failed(dist::verifySharding(weight, attr, weight.getType())))
      return failure();
    TensorSharding sharding = fromAttr(attr, mesh);
    for (unsigned load : loads.lookup(weight.getSymName()))
      for (auto [dim, axes] : llvm::enumerate(sharding.dims))
        shardings->seed(load, dim, axes);
  }
  return success();
}

TensorSharding PlannedModule::commonStorage(ArrayRef<unsigned> loads) const {
  TensorSharding common = shardings->get(loads.front());
  for (unsigned load : loads.drop_front())
    for (auto [dim, list] : llvm::enumerate(shardings->get(load).dims))
      common.dims[dim] = commonHead(common.dims[dim], list);
  return common;
}

void PlannedModule::annotate() {
  MLIRContext *context = module.getContext();
  for (auto [index, value] : llvm::enumerate(function->values))
    dist::setSharding(value, toAttr(context, shardings->get(index), mesh));
  for (OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands())
    if (dist::ShardingAttr sharding = dist::getSharding(operand.get()))
      main.setResultAttr(operand.getOperandNumber(), dist::kShardingAttr, sharding);
  for (auto weight : module.getOps<WeightOp>()) {
    auto found = loads.find(weight.getSymName());
    if (found != loads.end() && !weight->hasAttr(dist::kPinnedAttr))
      weight->setAttr(dist::kShardingAttr, toAttr(context, commonStorage(found->second), mesh));
  }
}
