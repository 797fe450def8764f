#include "compiler/Sharding/PlannedModule.h"

#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/Decisions.h"
#include "compiler/Sharding/OperationSplit.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// Whether the function is what the partitioner leaves: its types are of one device's blocks.
static bool isPartitioned(func::FuncOp main) {
  for (unsigned index = 0; index < main.getNumArguments(); ++index)
    if (main.getArgAttr(index, dist::kGlobalTypeAttr))
      return true;
  for (unsigned index = 0; index < main.getNumResults(); ++index)
    if (main.getResultAttr(index, dist::kGlobalTypeAttr))
      return true;
  return false;
}

/// What is said of weights on meshes that no part runs on would be lost.
static LogicalResult checkStorageMeshes(ModuleOp module, ArrayRef<PlannedPart> parts) {
  for (auto weight : module.getOps<WeightOp>())
    for (dist::ShardingAttr sharding : dist::getStorageShardings(weight)) {
      StringRef name = sharding.getMesh().getValue();
      if (llvm::none_of(parts, [&](const PlannedPart &part) { return part.mesh.name == name; }))
        return checkSharding(weight, "@" + weight.getSymName().str(), sharding, weight.getType(),
                             parts.front().mesh.name);
    }
  return success();
}

std::optional<PlannedModule> PlannedModule::get(ModuleOp module) {
  std::optional<Parts> parts = getParts(module);
  if (!parts)
    return std::nullopt;
  PlannedModule result;
  result.channels = std::move(parts->channels);
  for (const Part &part : parts->parts) {
    if (!part.mesh) {
      module.emitError() << "expected a dist.mesh to shard over, got none";
      return std::nullopt;
    }
    std::optional<PlannedPart> planned = PlannedPart::get(module, part);
    if (!planned)
      return std::nullopt;
    result.parts.push_back(std::move(*planned));
  }
  if (failed(checkStorageMeshes(module, result.parts)))
    return std::nullopt;
  return result;
}

LogicalResult PlannedModule::readAgain() {
  for (PlannedPart &part : parts)
    if (failed(part.read()))
      return failure();
  return checkStorageMeshes(parts.front().module, parts);
}

void PlannedModule::propagate() {
  for (PlannedPart &part : parts)
    part.shardings->run();
}

void PlannedModule::annotate() {
  for (PlannedPart &part : parts)
    part.annotate();
}

std::optional<PlannedPart> PlannedPart::get(ModuleOp module, const Part &part) {
  PlannedPart result;
  result.module = module;
  result.main = part.function;
  if (isPartitioned(result.main)) {
    result.main.emitOpError() << "expected tensors that are whole, got the program of one device";
    return std::nullopt;
  }
  result.mesh = getMeshShape(part.mesh);
  result.function = std::make_shared<FunctionGraph>(result.main);
  result.function->graph.batchAxes = getBatchAxes(result.mesh);
  for (auto [index, value] : llvm::enumerate(result.function->values))
    if (auto load = value.getDefiningOp<LoadOp>())
      result.loads[load.getWeight()].push_back(index);
  if (failed(result.read()))
    return std::nullopt;
  return result;
}

LogicalResult PlannedPart::read() {
  shardings = std::make_unique<Propagation>(function->graph);
  keepFromBatchAxes();
  return success(succeeded(readValues()) && succeeded(readResults()) && succeeded(readStorage()));
}

/// Of a training step axes of the batch split the batch, and of parameters and of sums over
/// microbatches what was decided so alone: what follows from decisions about an optimizer's state
/// must not move these with each microbatch, nor activations.
void PlannedPart::keepFromBatchAxes() {
  auto close = [&](unsigned tensor) {
    for (size_t dim = 0; dim < function->graph.tensors[tensor].shape.size(); ++dim)
      shardings->close(tensor, dim, function->graph.batchAxes);
  };
  for (const auto &[symbol, tensors] : function->parameters)
    llvm::for_each(tensors, close);
  for (auto sum : main.getBody().front().getOps<dist::AccumulateOp>()) {
    close(function->tensors.lookup(sum.getInput()));
    close(function->tensors.lookup(sum.getResult()));
  }
  if (function->parameters.empty())
    return;
  BatchDimensions batch(function->graph);
  for (auto [tensor, dims] : llvm::enumerate(batch.all()))
    if (dims.any())
      for (unsigned dim = 0; dim < dims.size(); ++dim)
        if (!dims.test(dim))
          shardings->close(tensor, dim, function->graph.batchAxes);
}

LogicalResult PlannedPart::readValues() {
  for (auto [index, value] : llvm::enumerate(function->values)) {
    dist::ShardingAttr attr = getKeptSharding(value);
    if (!attr)
      continue;
    if (failed(checkSharding(value, attr, mesh.name)))
      return failure();
    shardings->pin(index, fromAttr(attr, mesh));
  }
  return readSplits();
}

/// Pins a tensor, sums joined, if it is not pinned.
void PlannedPart::pinWhole(unsigned tensor, TensorSharding form) {
  if (shardings->isPinned(tensor))
    return;
  setPartial(form, {}, ReduceKind::Sum);
  shardings->pin(tensor, form);
}

/// What an operation reads and makes that a plan splits follows from that.
LogicalResult PlannedPart::readSplits() {
  for (auto [op, node] : llvm::zip_equal(function->operations, function->graph.nodes)) {
    FailureOr<std::optional<OperationSplit>> split = getSplit(*op, node.rule, mesh);
    if (failed(split))
      return failure();
    if (!*split)
      continue;
    for (auto [index, tensor] : llvm::enumerate(node.results))
      pinWhole(tensor, getResultForm(node.rule, index, **split));
    for (auto [index, tensor] : llvm::enumerate(node.operands))
      if (function->graph.tensors[tensor].weight) // as its first use reads it
        pinWhole(tensor, getOperandForm(node.rule, index, **split));
  }
  return success();
}

LogicalResult PlannedPart::readResults() {
  for (OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    dist::ShardingAttr attr = getKeptSharding(main, number);
    auto tensor = function->tensors.find(operand.get());
    if (!attr || tensor == function->tensors.end())
      continue;
    if (failed(checkSharding(main, "result " + std::to_string(number), attr,
                             operand.get().getType(), mesh.name)))
      return failure();
    if (!shardings->isPinned(tensor->second))
      shardings->pin(tensor->second, fromAttr(attr, mesh));
  }
  return success();
}

LogicalResult PlannedPart::readStorage() {
  for (auto weight : module.getOps<WeightOp>()) {
    dist::ShardingAttr attr = dist::getStorageSharding(weight, mesh.name);
    if (!attr)
      continue;
    if (failed(checkSharding(weight, "@" + weight.getSymName().str(), attr, weight.getType(),
                             mesh.name)))
      return failure();
    TensorSharding sharding = fromAttr(attr, mesh);
    for (unsigned tensor : function->states.lookup(weight.getSymName()))
      if (!shardings->isPinned(tensor))
        shardings->pin(tensor, sharding);
    bool isTrained = weight.getKind() == WeightKind::Trained;
    for (unsigned load : loads.lookup(weight.getSymName()))
      for (auto [dim, axes] : llvm::enumerate(sharding.dims))
        shardings->seed(load, dim, isTrained ? headWithout(axes, function->graph.batchAxes) : axes,
                        axes.unit);
  }
  return success();
}

TensorSharding PlannedPart::commonStorage(ArrayRef<unsigned> loads) const {
  TensorSharding common = shardings->get(loads.front());
  ArrayRef<int64_t> shape = function->graph.tensors[loads.front()].shape;
  for (unsigned load : loads.drop_front()) {
    const TensorSharding &other = shardings->get(load);
    for (auto [dim, list] : llvm::enumerate(other.dims)) {
      AxisList &axes = common.dims[dim];
      // A padded block is a part of no other block.
      bool pads = isPadded(shape[dim], axes) || isPadded(shape[dim], list);
      if (list != axes)
        axes = pads ? AxisList() : commonHead(axes, list);
    }
  }
  return common;
}

void PlannedPart::annotateValues(bool wasPropagated) {
  // All are read first: annotating one result of an operation annotates its siblings.
  SmallVector<dist::ShardingAttr> kept =
      llvm::map_to_vector(function->values, [](Value value) { return getKeptSharding(value); });
  for (auto [index, value] : llvm::enumerate(function->values))
    if (!kept[index])
      dist::setSharding(value, toAttr(module.getContext(), shardings->get(index), mesh));
  for (auto [value, sharding] : llvm::zip_equal(function->values, kept))
    if (sharding && !wasPropagated)
      pinSharding(value, sharding);
}

void PlannedPart::annotateResults(bool wasPropagated) {
  for (OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (getKeptSharding(main, number)) {
      if (!wasPropagated)
        main.setResultAttr(number, dist::kPinnedAttr, UnitAttr::get(module.getContext()));
    } else if (dist::ShardingAttr sharding = dist::getSharding(operand.get())) {
      main.setResultAttr(number, dist::kShardingAttr, sharding.withoutPartial());
    }
  }
}

void PlannedPart::annotateStorage(bool wasPropagated) {
  for (auto weight : module.getOps<WeightOp>()) {
    if (dist::ShardingAttr kept = dist::getStorageSharding(weight, mesh.name)) {
      if (!wasPropagated)
        dist::setStorageSharding(weight, kept, /*pinned=*/true);
    } else if (auto state = function->states.find(weight.getSymName());
               state != function->states.end() && !state->second.empty()) {
      TensorSharding first = shardings->get(state->second.front());
      dist::setStorageSharding(weight, toAttr(module.getContext(), first, mesh).withoutPartial(),
                               /*pinned=*/false);
    } else if (auto found = loads.find(weight.getSymName()); found != loads.end()) {
      dist::setStorageSharding(weight,
                               toAttr(module.getContext(), commonStorage(found->second), mesh),
                               /*pinned=*/false);
    }
  }
}

void PlannedPart::annotate() {
  bool wasPropagated = main->hasAttr(dist::kPropagatedAttr);
  annotateValues(wasPropagated);
  annotateResults(wasPropagated);
  annotateStorage(wasPropagated);
  main->setAttr(dist::kPropagatedAttr, UnitAttr::get(module.getContext()));
}
