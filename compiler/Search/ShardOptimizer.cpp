#include "compiler/Search/ShardOptimizer.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

std::optional<TensorSharding> weft::splitFurther(ArrayRef<int64_t> shape,
                                                 const TensorSharding &base, const AxisList &axes) {
  int64_t count = blocks(axes);
  std::optional<unsigned> best;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!best && !isPadded(size, base.dims[dim]) && localExtent(size, base.dims[dim]) % count == 0)
      best = dim;
  for (auto [dim, size] : llvm::enumerate(best ? ArrayRef<int64_t>() : shape))
    if (base.dims[dim].empty() && size >= count && (!best || size > shape[*best]))
      best = dim;
  if (!best)
    return std::nullopt;
  TensorSharding split = base;
  append(split.dims[*best], axes);
  return split;
}

namespace {
/// Decides for one part.
class OptimizerSharder {
public:
  OptimizerSharder(PlannedPart &planned, int64_t stage, plan::Plan &plan)
      : planned(planned), axes(getBatchAxes(planned.mesh)), stage(stage), plan(plan),
        names(planned.main) {}

  void run() {
    if (axes.empty())
      return;
    findGradients();
    for (const auto &[symbol, computing] : planned.function->parameters)
      if (ArrayRef<unsigned> stored = planned.function->states.find(symbol)->second;
          !stored.empty())
        shard(symbol, stored.front());
  }

private:
  void findGradients();
  void shard(StringRef parameter, unsigned stored);
  void shardStates(StringRef parameter, const TensorSharding &split);
  void shardGradient(StringRef parameter, const TensorSharding &base, const TensorSharding &split);
  void decide(const std::string &name, const TensorSharding &sharding, const char *what);

  PlannedPart &planned;
  AxisList axes;
  int64_t stage;
  plan::Plan &plan;
  ValueNames names;
  llvm::StringMap<std::pair<unsigned, Value>> gradients; ///< results of the part
};
} // namespace

void OptimizerSharder::findGradients() {
  for (OpOperand &end : planned.main.getBody().front().getTerminator()->getOpOperands()) {
    std::string full = getResultName(planned.main, end.getOperandNumber());
    StringRef name = full;
    auto role = planned.main.getResultAttrOfType<StringAttr>(end.getOperandNumber(), "weft.role");
    if (role && role.getValue() == "gradient" && name.consume_front("grad:"))
      gradients[name] = {end.getOperandNumber(), end.get()};
  }
}

void OptimizerSharder::decide(const std::string &name, const TensorSharding &sharding,
                              const char *what) {
  auto found = llvm::find_if(*plan.mutable_decisions(), [&](const plan::Decision &decision) {
    return decision.value() == name && decision.sharding().mesh() == planned.mesh.name;
  });
  plan::Decision &decision =
      found == plan.mutable_decisions()->end() ? *plan.add_decisions() : *found;
  std::string reason = decision.reason().empty() ? "" : decision.reason() + "; ";
  decision.set_value(name);
  *decision.mutable_sharding() = toPlan(sharding, planned.mesh);
  decision.set_origin(plan::SEARCHED);
  decision.set_reason(reason + "optimizer sharding " + std::to_string(stage) + ": " + what);
  for (const AxisList &dim : sharding.dims)
    for (AxisRef axis : dim)
      if (overlaps(axis, axes))
        decision.add_chosen_axes(planned.mesh.axes[axis.axis].name);
}

void OptimizerSharder::shard(StringRef parameter, unsigned stored) {
  TensorSharding base = planned.shardings->get(stored);
  for (AxisList &dim : base.dims)
    dim = headWithout(dim, axes);
  std::optional<TensorSharding> split =
      splitFurther(planned.function->graph.tensors[stored].shape, base, axes);
  if (!split)
    return;
  auto weight = planned.module.lookupSymbol<WeightOp>(parameter);
  if (!dist::getStorageSharding(weight, planned.mesh.name))
    decide((weightPrefix + parameter).str(), stage >= 3 ? *split : base,
           stage >= 3 ? "a part of the parameter on each device of the batch's axes"
                      : "the parameter is whole where it is computed with");
  shardStates(parameter, *split);
  shardGradient(parameter, base, *split);
}

void OptimizerSharder::shardStates(StringRef parameter, const TensorSharding &split) {
  for (const auto &[symbol, tensors] : planned.function->states) {
    auto [kind, name] = symbol.split(':');
    auto weight = planned.module.lookupSymbol<WeightOp>(symbol);
    if (!kind.starts_with("optimizer.") || name != parameter || tensors.empty() ||
        planned.function->graph.tensors[tensors.front()].shape.size() != split.dims.size() ||
        dist::getStorageSharding(weight, planned.mesh.name))
      continue;
    decide((weightPrefix + symbol).str(), split, "a part of the optimizer's state");
  }
}

/// Gradients are looked at in the parts in which they are used. In stage 1 a sum over microbatches
/// is whole, and may be one that waits: it is scattered once a step.
void OptimizerSharder::shardGradient(StringRef parameter, const TensorSharding &base,
                                     const TensorSharding &split) {
  auto found = gradients.find(parameter);
  if (found == gradients.end())
    return;
  auto [result, value] = found->second;
  bool waits = stage < 2 && value.getDefiningOp<dist::AccumulateOp>();
  if (!planned.shardings->isPinned(planned.function->tensors.lookup(value)))
    decide(names.get(value), waits ? base : split,
           waits ? "the gradient is whole until it is joined" : "a part of the gradient");
  decide((resultPrefix + getResultName(planned.main, result)).str(), split,
         "the gradient as the optimizer reads it");
}

void weft::shardOptimizer(PlannedModule &planned, int64_t stage, plan::Plan &plan) {
  if (stage > 0)
    for (PlannedPart &part : planned.parts)
      OptimizerSharder(part, stage, plan).run();
}
