#include "compiler/Search/ShardOptimizer.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/ValueNames.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

/// splitFurther, along one of these dimensions.
static std::optional<TensorSharding> splitAlong(ArrayRef<unsigned> dims, ArrayRef<int64_t> shape,
                                                const TensorSharding &base, const AxisList &axes) {
  int64_t count = blocks(axes);
  std::optional<unsigned> best;
  for (unsigned dim : dims)
    if (!best && !isPadded(shape[dim], base.dims[dim]) &&
        localExtent(shape[dim], base.dims[dim]) % count == 0)
      best = dim;
  for (unsigned dim : best ? ArrayRef<unsigned>() : dims)
    if (base.dims[dim].empty() && shape[dim] >= count && (!best || shape[dim] > shape[*best]))
      best = dim;
  if (!best)
    return std::nullopt;
  TensorSharding split = base;
  append(split.dims[*best], axes);
  return split;
}

std::optional<TensorSharding> weft::splitFurther(ArrayRef<int64_t> shape,
                                                 const TensorSharding &base, const AxisList &axes,
                                                 ArrayRef<unsigned> preferred) {
  if (std::optional<TensorSharding> split = splitAlong(preferred, shape, base, axes))
    return split;
  return splitAlong(llvm::to_vector(llvm::seq<unsigned>(0, shape.size())), shape, base, axes);
}

/// Whether an operation moves elements of its operands, rounds them, or adds them one by one.
static bool movesOnly(Operation *op, FactorRule &rule) {
  auto interface = dyn_cast_or_null<FactorRuleOpInterface>(op);
  if (!interface || isa<dist::AccumulateOp>(op))
    return false;
  rule = interface.getFactorRule();
  return (rule.linearity == SumLinearity::Joint || isa<CastOp>(op)) &&
         llvm::none_of(rule.factors,
                       [](const Factor &factor) { return factor.kind == FactorKind::Reduction; });
}

/// Whether a sum over devices may not wait until the gradient is put together of parts: something
/// makes it longer, or it is a sum over microbatches already.
static bool isJoinedBefore(Value gradient) {
  SmallVector<Operation *> stack{gradient.getDefiningOp()};
  llvm::DenseSet<Operation *> seen;
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    FactorRule rule;
    if (!seen.insert(op).second)
      continue;
    if (isa_and_nonnull<BroadcastOp, PadOp>(op) ||
        (isa_and_nonnull<dist::AccumulateOp>(op) && op != gradient.getDefiningOp()))
      return true;
    if (movesOnly(op, rule))
      for (Value operand : op->getOperands())
        stack.push_back(operand.getDefiningOp());
  }
  return false;
}

SmallVector<GradientSource> weft::findSources(Value gradient) {
  int64_t rank = cast<RankedTensorType>(gradient.getType()).getRank();
  SmallVector<GradientSource> found,
      stack{{gradient, llvm::to_vector(llvm::seq<int64_t>(0, rank))}};
  bool goesOn = isJoinedBefore(gradient);
  while (!stack.empty()) {
    GradientSource next = stack.pop_back_val();
    FactorRule rule;
    if (!goesOn || !movesOnly(next.value.getDefiningOp(), rule)) {
      found.push_back(std::move(next));
      continue;
    }
    Operation *op = next.value.getDefiningOp();
    for (unsigned number = 0; number < (isa<PadOp>(op) ? 1 : op->getNumOperands()); ++number) {
      SmallVector<int64_t> dims;
      for (int64_t dim : next.dims) {
        const auto *factors = dim < 0 ? nullptr : &rule.results.front()[dim];
        auto own = llvm::find_if(rule.operands[number], [&](const DimFactors &other) {
          return factors && factors->size() == 1 && other == *factors;
        });
        bool isOne = own != rule.operands[number].end() &&
                     rule.factors[factors->front()].kind == FactorKind::Parallel;
        dims.push_back(isOne ? own - rule.operands[number].begin() : -1);
      }
      stack.push_back({op->getOperand(number), dims});
    }
  }
  return found;
}

namespace {
/// Decides for one part.
class OptimizerSharder {
public:
  OptimizerSharder(const PlannedPart &planned, const ShardingAnswer &answer, int64_t stage,
                   plan::Plan &plan)
      : planned(planned), answer(answer), axes(getBatchAxes(planned.mesh)), stage(stage),
        plan(plan), names(planned.main), symbols(planned.module) {}

  void run() {
    if (axes.empty())
      return;
    findGradients();
    findStates();
    const FunctionGraph &function = *planned.function;
    for (const auto &[symbol, computing] : function.parameters)
      for (unsigned tensor :
           llvm::concat<const unsigned>(computing, function.states.lookup(symbol)))
        if (function.values[tensor].getDefiningOp<LoadOp>() && answer.forms[tensor]) {
          shard(symbol, tensor);
          break;
        }
  }

private:
  void findGradients();
  void findStates();
  void shard(StringRef parameter, unsigned load);
  void shardStates(StringRef parameter, const TensorSharding &split);
  SmallVector<unsigned> findPreferred(StringRef parameter) const;
  void shardGradient(StringRef parameter, const TensorSharding &split);
  void shardSums(Value gradient, const TensorSharding &split);
  void decide(const std::string &name, const TensorSharding &sharding, const char *what);

  const PlannedPart &planned;
  const ShardingAnswer &answer; ///< where nothing is split over the batch's axes but the batch
  AxisList axes;
  int64_t stage;
  plan::Plan &plan;
  ValueNames names;
  SymbolTable symbols;
  llvm::StringMap<std::pair<unsigned, Value>> gradients; ///< results of the part
  llvm::StringMap<SmallVector<StringRef, 2>> statesOf;   ///< an optimizer's, by parameter
  llvm::StringSet<> decided;
};
} // namespace

void OptimizerSharder::findGradients() {
  func::FuncOp main = planned.main;
  for (OpOperand &end : main.getBody().front().getTerminator()->getOpOperands()) {
    std::string full = getResultName(main, end.getOperandNumber());
    StringRef name = full;
    auto role = main.getResultAttrOfType<StringAttr>(end.getOperandNumber(), "weft.role");
    if (role && role.getValue() == "gradient" && name.consume_front("grad:"))
      gradients[name] = {end.getOperandNumber(), end.get()};
  }
}

void OptimizerSharder::findStates() {
  for (const auto &[symbol, tensors] : planned.function->states) {
    auto [kind, name] = symbol.split(':');
    if (kind.starts_with("optimizer.") && !tensors.empty())
      statesOf[name].push_back(symbol);
  }
}

void OptimizerSharder::decide(const std::string &name, const TensorSharding &sharding,
                              const char *what) {
  if (!decided.insert(name).second)
    return; // parameters that are added to one value have one gradient
  plan::Decision &decision = *plan.add_decisions();
  decision.set_value(name);
  *decision.mutable_sharding() = toPlan(sharding, planned.mesh);
  decision.set_origin(plan::SEARCHED);
  decision.set_reason("optimizer sharding " + std::to_string(stage) + ": " + what);
  for (const AxisList &dim : sharding.dims)
    for (AxisRef axis : dim)
      if (overlaps(axis, axes))
        decision.add_chosen_axes(planned.mesh.axes[axis.axis].name);
}

void OptimizerSharder::shard(StringRef parameter, unsigned load) {
  TensorSharding base = *answer.forms[load];
  for (AxisList &dim : base.dims)
    dim = headWithout(dim, axes);
  std::optional<TensorSharding> split = splitFurther(planned.function->graph.tensors[load].shape,
                                                     base, axes, findPreferred(parameter));
  if (!split)
    return;
  auto weight = symbols.lookup<WeightOp>(parameter);
  if (!dist::getStorageSharding(weight, planned.mesh.name))
    decide((weightPrefix + parameter).str(), stage >= 3 ? *split : base,
           stage >= 3 ? "a part of the parameter on each device of the batch's axes"
                      : "the parameter is whole where it is computed with");
  shardStates(parameter, *split);
  shardGradient(parameter, *split);
}

void OptimizerSharder::shardStates(StringRef parameter, const TensorSharding &split) {
  for (StringRef symbol : statesOf.lookup(parameter)) {
    unsigned tensor = planned.function->states.find(symbol)->second.front();
    if (planned.function->graph.tensors[tensor].shape.size() != split.dims.size() ||
        dist::getStorageSharding(symbols.lookup<WeightOp>(symbol), planned.mesh.name))
      continue;
    decide((weightPrefix + symbol).str(), split, "a part of the optimizer's state");
  }
}

/// The dimensions that all sums of a gradient have: split along one of these, each may be scattered
/// where it is made.
SmallVector<unsigned> OptimizerSharder::findPreferred(StringRef parameter) const {
  auto found = gradients.find(parameter);
  if (found == gradients.end())
    return {};
  SmallVector<GradientSource> sources = findSources(found->second.second);
  SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < sources.front().dims.size(); ++dim)
    if (llvm::all_of(sources, [&](const auto &source) { return source.dims[dim] >= 0; }))
      dims.push_back(dim);
  return dims;
}

/// Sums over microbatches that a gradient is moved together from are kept in parts too.
void OptimizerSharder::shardSums(Value gradient, const TensorSharding &split) {
  for (const GradientSource &source : findSources(gradient)) {
    unsigned tensor = planned.function->tensors.lookup(source.value);
    if (source.value == gradient || !source.value.getDefiningOp<dist::AccumulateOp>() ||
        planned.shardings->isPinned(tensor))
      continue;
    const ShardingGraph &graph = planned.function->graph;
    unsigned producer = graph.tensors[tensor].producer;
    TensorSharding own =
        getResultForm(graph.nodes[producer].rule, /*index=*/0, answer.splits[producer]);
    own.partial.clear();
    for (AxisList &dim : own.dims)
      dim = headWithout(dim, axes);
    SmallVector<unsigned> same;
    for (auto [dim, list] : llvm::enumerate(split.dims))
      if (source.dims[dim] >= 0 &&
          llvm::any_of(list, [&](AxisRef axis) { return overlaps(axes, axis); }))
        same.push_back(source.dims[dim]);
    if (auto part = splitFurther(graph.tensors[tensor].shape, own, axes, same))
      decide(names.get(source.value), *part, "a part of the gradient's sum");
  }
}

/// Gradients are looked at in the parts in which they are used. In stage 1 a sum over microbatches
/// is left to the search: one that waits is scattered once a step.
void OptimizerSharder::shardGradient(StringRef parameter, const TensorSharding &split) {
  auto found = gradients.find(parameter);
  if (found == gradients.end())
    return;
  auto [result, value] = found->second;
  bool waits = stage < 2 && value.getDefiningOp<dist::AccumulateOp>();
  if (!waits && !planned.shardings->isPinned(planned.function->tensors.lookup(value)))
    decide(names.get(value), split, "a part of the gradient");
  if (stage >= 2)
    shardSums(value, split);
  decide((resultPrefix + getResultName(planned.main, result)).str(), split,
         "the gradient as the optimizer reads it");
}

void weft::shardOptimizer(const PlannedPart &part, const ShardingAnswer &answer, int64_t stage,
                          plan::Plan &plan) {
  OptimizerSharder(part, answer, stage, plan).run();
}
