//===- AssignParts.cpp - which operation of a model goes where ------------===//

#include "compiler/Sharding/AssignStages.h"
#include "compiler/Sharding/BackwardPass.h"

#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

namespace {
/// Of a model that infers: operations that depend on an input or a state have a part. The others
/// are made anew in each part that reads them. A state that is stored is loaded and stored in one
/// part, the first that reads it; others get its value from there.
class ModelAssigner {
public:
  ModelAssigner(func::FuncOp main, PartAssignment &result) : main(main), result(result) {
    Block &body = main.getBody().front();
    for (auto store : body.getOps<StoreOp>())
      stores[store.getWeightAttr().getAttr()] = store;
    mergeLoads();
    for (Operation &op : body)
      if (isStateUse(&op) ||
          llvm::any_of(op.getOperands(), [&](Value operand) { return result.isHanded(operand); }))
        result.parts[&op] = PartAssignment::none;
  }

  LogicalResult assign(ArrayRef<Value> ends);

private:
  void take(Operation *op, unsigned part);
  bool isStateUse(Operation *op) const {
    auto load = dyn_cast<LoadOp>(op);
    return isa<StoreOp>(op) || (load && stores.contains(load.getWeightAttr().getAttr()));
  }
  void mergeLoads();

  func::FuncOp main;
  PartAssignment &result;
  llvm::DenseMap<StringAttr, StoreOp> stores; ///< by state
};
} // namespace

/// One load for each state that is stored.
void ModelAssigner::mergeLoads() {
  llvm::DenseMap<StringAttr, LoadOp> first;
  for (auto load : llvm::make_early_inc_range(main.getBody().front().getOps<LoadOp>())) {
    StringAttr symbol = load.getWeightAttr().getAttr();
    if (!stores.contains(symbol))
      continue;
    auto [known, isNew] = first.try_emplace(symbol, load);
    if (isNew)
      continue;
    load.getResult().replaceAllUsesWith(known->second.getResult());
    load.erase();
  }
}

/// Gives the part what its end needs and no part has, and what changes the states that it loads.
void ModelAssigner::take(Operation *op, unsigned part) {
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    auto found = result.parts.find(next);
    if (found == result.parts.end() || found->second != PartAssignment::none)
      continue;
    found->second = part;
    if (auto load = dyn_cast<LoadOp>(next))
      worklist.push_back(stores.lookup(load.getWeightAttr().getAttr()));
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        worklist.push_back(producer);
  }
}

LogicalResult ModelAssigner::assign(ArrayRef<Value> ends) {
  for (auto [part, end] : llvm::enumerate(ends)) {
    if (failed(checkCut(end, ends, result)))
      return failure();
    take(end.getDefiningOp(), part);
  }
  result.count = ends.size() + 1;
  bool isLastEmpty = true;
  for (auto &[op, part] : result.parts)
    if (part == PartAssignment::none) {
      part = ends.size();
      isLastEmpty = isLastEmpty && op->hasTrait<OpTrait::IsTerminator>();
    }
  if (isLastEmpty)
    return refuseCut(ends.back()) << "nothing is left to compute behind it";
  return success();
}

InFlightDiagnostic weft::refuseCut(Value end) {
  return mlir::emitError(end.getLoc()) << "cannot cut behind '" << getSourceName(end) << "': ";
}

LogicalResult weft::checkCut(Value end, ArrayRef<Value> ends, const PartAssignment &assignment) {
  if (isa<BlockArgument>(end))
    return refuseCut(end) << "it is an input, no part would be left before it";
  if (!assignment.isHanded(end))
    return refuseCut(end) << "it depends on no input, every part that reads it makes it anew";
  if (unsigned part = assignment.get(end); part != PartAssignment::none)
    return refuseCut(end) << "the part that ends behind '" << getSourceName(ends[part])
                          << "' holds it already; name cuts in the order in which they are "
                             "computed, each once";
  return success();
}

std::optional<PartAssignment> weft::assignParts(func::FuncOp main, ArrayRef<Value> ends) {
  PartAssignment result;
  Operation *loss = BackwardPass(main).getLoss();
  LogicalResult assigned =
      loss ? assignStages(main, loss, ends, result) : ModelAssigner(main, result).assign(ends);
  return succeeded(assigned) ? std::optional(std::move(result)) : std::nullopt;
}
