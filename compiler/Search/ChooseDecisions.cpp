#include "compiler/Search/ChooseDecisions.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Search/GreedyChoice.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// The tensors that storage is made of: what states are loaded as and become, and the gradients of
/// weights, which lie as their optimizer's states do.
static llvm::DenseSet<unsigned> findStored(const PlannedPart &planned) {
  llvm::DenseSet<unsigned> stored;
  for (const auto &[symbol, tensors] : planned.function->states)
    stored.insert(tensors.begin(), tensors.end());
  func::FuncOp main = planned.main;
  for (OpOperand &result : main.getBody().front().getTerminator()->getOpOperands()) {
    auto role = main.getResultAttrOfType<StringAttr>(result.getOperandNumber(), "weft.role");
    if (role && role.getValue() == "gradient")
      stored.insert(planned.function->tensors.lookup(result.get()));
  }
  return stored;
}

/// The axes that no pin mentions. An axis that takes the batch takes it beside pinned storage.
static SmallVector<unsigned> freeAxes(const PlannedPart &planned) {
  SmallVector<bool> taken(planned.mesh.axes.size());
  auto take = [&](const TensorSharding &sharding, bool weight = false) {
    for (auto [axis, description] : llvm::enumerate(planned.mesh.axes))
      if (!weight || !isBatchAxis(description.name))
        taken[axis] = taken[axis] || sharding.uses(fullAxis(planned.mesh, axis));
  };
  llvm::DenseSet<unsigned> stored = findStored(planned);
  for (unsigned tensor = 0; tensor < planned.function->values.size(); ++tensor)
    if (planned.shardings->isPinned(tensor))
      take(planned.shardings->get(tensor), stored.contains(tensor));
  ModuleOp module = planned.module;
  for (auto weight : module.getOps<WeightOp>())
    if (dist::ShardingAttr attr = dist::getStorageSharding(weight, planned.mesh.name))
      take(fromAttr(attr, planned.mesh), /*weight=*/true);
  SmallVector<unsigned> free;
  for (unsigned axis = 0; axis < taken.size(); ++axis)
    if (!taken[axis])
      free.push_back(axis);
  return free;
}

/// For each tensor the number of the weight that it loads, to compute with it.
static std::vector<unsigned> weightIds(const PlannedPart &planned) {
  std::vector<unsigned> ids(planned.function->values.size(), ShardingGraph::none);
  for (auto [id, entry] : llvm::enumerate(planned.loads))
    for (unsigned load : entry.second)
      if (planned.function->graph.tensors[load].weight)
        ids[load] = id;
  return ids;
}

/// The name in a plan of a weight that a tensor loads, if its storage is meant, or of a value.
static std::string nameOf(const ValueNames &names, Value value, bool storage) {
  auto load = storage ? value.getDefiningOp<LoadOp>() : LoadOp();
  return load ? (weightPrefix + load.getWeight()).str() : names.get(value);
}

static void chooseDecisions(PlannedPart &planned, plan::Plan &plan) {
  ValueNames names(planned.main);
  std::vector<Refusal> refusals;
  for (const Choice &choice :
       chooseShardings(planned.function->graph, planned.mesh, freeAxes(planned), weightIds(planned),
                       *planned.shardings, &refusals)) {
    plan::Decision &decision = *plan.add_decisions();
    decision.set_value(nameOf(names, planned.function->values[choice.tensor], choice.storage));
    *decision.mutable_sharding() = toPlan(choice.sharding, planned.mesh);
    decision.set_origin(plan::SEARCHED);
    decision.set_reason(choice.reason);
    decision.set_bytes(choice.bytes);
    for (unsigned axis : choice.axes)
      decision.add_chosen_axes(planned.mesh.axes[axis].name);
  }
  for (const Refusal &refusal : refusals) {
    plan::Refusal &message = *plan.add_refusals();
    message.set_value(nameOf(names, planned.function->values[refusal.tensor], /*storage=*/true));
    message.set_axis(planned.mesh.axes[refusal.axis].name);
    message.set_mesh(planned.mesh.name);
    message.set_reason(refusal.reason);
  }
}

void weft::propagateBatch(PlannedModule &planned) {
  if (planned.channels.empty())
    return;
  std::vector<SmallVector<Channel>> from(planned.parts.size());
  for (const Channel &channel : planned.channels)
    from[channel.from].push_back(channel);
  // Channels lead to later parts, so that what a part is handed is known when its turn comes.
  for (auto [part, channels] : llvm::zip_equal(planned.parts, from)) {
    BatchDimensions batch(part.function->graph);
    Operation *end = part.main.getBody().front().getTerminator();
    for (const Channel &channel : channels) {
      PlannedPart &to = planned.parts[channel.to];
      unsigned source = part.function->tensors.lookup(end->getOperand(channel.result));
      unsigned target = to.function->tensors.lookup(to.main.getArgument(channel.argument));
      to.function->graph.tensors[target].batchDim = batch.all()[source].find_first();
    }
  }
}

void weft::chooseDecisions(PlannedModule &planned, plan::Plan &plan) {
  propagateBatch(planned);
  for (PlannedPart &part : planned.parts)
    ::chooseDecisions(part, plan);
}
