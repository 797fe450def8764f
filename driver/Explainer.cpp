#include "driver/Explainer.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Sharding/OperationSplit.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "driver/HeldForms.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace weft;

/// A chain of propagation longer than this is cut: it repeats a layer.
static constexpr size_t maxSteps = 24;

static std::string originName(const plan::Decision &decision) {
  return decision.origin() == plan::USER         ? "user"
         : decision.origin() == plan::PROPAGATED ? "propagated"
                                                 : "chosen";
}

Explainer::Explainer(const PlannedPart &planned, const plan::Plan &plan)
    : planned(planned), names(planned.main) {
  for (const plan::Decision &decision : plan.decisions())
    if (isOfThisMesh(decision.sharding().mesh()))
      decisions[decision.value()] = &decision;
  mlir::func::FuncOp main = planned.main;
  for (mlir::OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands())
    if (const plan::Decision *decision =
            decisions.lookup(resultPrefix.str() + getResultName(main, operand.getOperandNumber())))
      ofReturned.try_emplace(operand.get(), decision);
  for (auto [index, growth] : llvm::enumerate(planned.shardings->history()))
    growths[growth.tensor].push_back(index);
}

/// Whether what a plan says of that mesh, or of none, is about this part.
bool Explainer::isOfThisMesh(const std::string &mesh) const {
  return mesh.empty() || mesh == planned.mesh.name;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// In the order in which a plan's decisions are applied: the value of that name, unless it merely
/// loads the weight, then the weight.
std::optional<unsigned> Explainer::find(llvm::StringRef name) const {
  llvm::StringRef weight = name;
  bool ofWeight = weight.consume_front(weightPrefix);
  mlir::Value value = ofWeight ? mlir::Value() : names.lookup(name);
  bool isExact = false; // `value:` and `result:` mean the value, be it a load
  mlir::func::FuncOp main = planned.main;
  if (!value && name.consume_front(valuePrefix)) {
    value = names.lookup(name);
    isExact = true;
  } else if (!value && name.consume_front(resultPrefix)) {
    for (mlir::OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands())
      if (getResultName(main, operand.getOperandNumber()) == name)
        value = operand.get();
    isExact = true;
  }
  bool isMeant = value && (isExact || !value.getDefiningOp<LoadOp>());
  auto found = isMeant ? planned.function->tensors.find(value) : planned.function->tensors.end();
  if (found != planned.function->tensors.end())
    return found->second;
  auto loads = planned.loads.find(weight);
  return loads != planned.loads.end() ? std::optional(loads->second.front()) : std::nullopt;
}

/// Whether a name lies in a part of the model: `h.0.mlp` holds `h.0.mlp/gelu` and
/// `weight:h.0.mlp.up`.
static bool isUnder(llvm::StringRef name, llvm::StringRef part) {
  if (!part.starts_with(weightPrefix))
    name.consume_front(weightPrefix);
  bool ended = part.ends_with("/") || part.ends_with(".");
  return name.consume_front(part) && !name.empty() &&
         (ended || name.front() == '/' || name.front() == '.');
}

std::vector<ValueSummary> Explainer::listUnder(llvm::StringRef part) const {
  std::vector<ValueSummary> values = list();
  llvm::erase_if(values, [&](const ValueSummary &value) { return !isUnder(value.value, part); });
  return values;
}

std::string Explainer::describeUnknown(const std::string &name) const {
  std::string text = "the model has no value '" + name + "'";
  if (mlir::Value fused = names.findFused(name))
    return text + ": it was fused into " + fused.getDefiningOp()->getName().getStringRef().str() +
           " '" + names.get(fused) + "', ask for that";
  std::vector<std::string> known;
  for (const ValueSummary &value : list()) {
    known.push_back(value.value);
    if (llvm::StringRef weight = value.value; weight.consume_front(weightPrefix))
      known.push_back(weight.str());
  }
  return text + didYouMean(name, known);
}

/// As find() knows it.
std::string Explainer::nameOf(unsigned tensor) const {
  mlir::Value value = planned.function->values[tensor];
  auto load = value.getDefiningOp<LoadOp>();
  return load ? (weightPrefix + load.getWeight()).str() : names.get(value);
}

const plan::Decision *Explainer::decisionOf(unsigned tensor) const {
  mlir::Value value = planned.function->values[tensor];
  if (auto load = value.getDefiningOp<LoadOp>())
    for (const std::string &name :
         {valuePrefix.str() + names.get(value), (weightPrefix + load.getWeight()).str(),
          load.getWeight().str()})
      if (const plan::Decision *decision = decisions.lookup(name);
          decision &&
          (llvm::StringRef(name).starts_with(valuePrefix) || find(name) == find(nameOf(tensor))))
        return decision;
  if (const plan::Decision *decision = decisions.lookup(names.get(value)))
    return decision;
  return ofReturned.lookup(value);
}

ValueSummary Explainer::summarize(unsigned tensor) const {
  TensorSharding sharding = getHeldForm(planned, tensor);
  ValueSummary summary{nameOf(tensor), "", str(planned.mesh, sharding), "", planned.mesh.name};
  llvm::raw_string_ostream(summary.type) << planned.function->values[tensor].getType();
  if (const plan::Decision *decision = decisionOf(tensor))
    summary.origin = originName(*decision);
  else if (!sharding.isReplicated())
    summary.origin = "propagated";
  return summary;
}

std::vector<ValueSummary> Explainer::list() const {
  std::vector<ValueSummary> all;
  for (const auto &[weight, loads] : planned.loads)
    all.push_back(summarize(loads.front()));
  for (auto [tensor, value] : llvm::enumerate(planned.function->values))
    if (mlir::Operation *op = value.getDefiningOp(); !op || op->getNumOperands() > 0)
      all.push_back(summarize(tensor));
  return all;
}

//===----------------------------------------------------------------------===//
// Where a split came from
//===----------------------------------------------------------------------===//

/// How the tensor got the axes; null if it was given them.
const Propagation::Growth *Explainer::growthOf(unsigned tensor,
                                               llvm::ArrayRef<AxisRef> axes) const {
  auto found = growths.find(tensor);
  if (found == growths.end())
    return nullptr;
  for (unsigned index : found->second)
    if (const auto &growth = planned.shardings->history()[index]; overlaps(growth.axes, axes))
      return &growth;
  return nullptr;
}

/// Whether the plan decides that the tensor has the axes, and does not merely keep them.
bool Explainer::decides(const plan::Decision &decision, llvm::ArrayRef<AxisRef> axes) const {
  TensorSharding sharding = fromPlan(decision.sharding(), planned.mesh);
  if (decision.origin() == plan::USER || decision.chosen_axes().empty())
    return llvm::any_of(sharding.dims, [&](const AxisList &dim) { return overlaps(dim, axes); });
  return llvm::any_of(decision.chosen_axes(), [&](const std::string &name) {
    std::optional<unsigned> axis = planned.mesh.find(name);
    return axis && overlaps(axes, fullAxis(planned.mesh, *axis));
  });
}

/// How the search splits what makes a tensor: "weft.dot_general is split: b by data, n by model".
/// "" where the plan says nothing of it.
std::string Explainer::describeSplit(unsigned tensor) const {
  unsigned producer = planned.function->graph.tensors[tensor].producer;
  if (producer == ShardingGraph::none)
    return "";
  const FactorRule &rule = planned.function->graph.nodes[producer].rule;
  mlir::Operation *op = planned.function->operations[producer];
  auto split = getSplit(*op, rule, planned.mesh);
  if (mlir::failed(split) || !*split)
    return "";
  std::vector<std::string> parts;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, (*split)->axes))
    if (!axes.empty())
      parts.push_back(fmt::format("{} by {}", factor.name, str(planned.mesh, axes)));
  return parts.empty() ? ""
                       : fmt::format("{} is split: {}", op->getName().getStringRef().str(),
                                     fmt::join(parts, ", "));
}

/// The axes that split what the tensor's operation sums over.
std::vector<std::string> Explainer::listSums(unsigned tensor) const {
  std::vector<std::string> sums;
  unsigned producer = planned.function->graph.tensors[tensor].producer;
  if (producer == ShardingGraph::none)
    return sums;
  const FactorRule &rule = planned.function->graph.nodes[producer].rule;
  std::string op = planned.function->operations[producer]->getName().getStringRef().str();
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, getSplitOf(planned, producer).axes))
    if (factor.kind == FactorKind::Reduction)
      for (AxisRef axis : axes)
        sums.push_back(fmt::format("{} sums over what {} splits: its partial sums are joined", op,
                                   planned.mesh.axes[axis.axis].name));
  return sums;
}

/// Of a weight that each operation reads as it wants it: who reads it with these axes.
Origin Explainer::readOrigin(unsigned tensor, unsigned dim, const AxisList &axes) const {
  Origin origin{str(planned.mesh, axes), dim, "propagated", {}, ""};
  const ShardingGraph &graph = planned.function->graph;
  while (!graph.tensors[tensor].users.empty()) {
    unsigned user = graph.tensors[tensor].users.front();
    if (graph.nodes[user].results.empty())
      break;
    unsigned made = graph.nodes[user].results.front();
    origin.steps.push_back(
        fmt::format("as '{}' reads it, {}", nameOf(made),
                    planned.function->operations[user]->getName().getStringRef().str()));
    if (!graph.nodes[user].view)
      break;
    tensor = made;
  }
  return origin;
}

/// One step back on the way that the axes came to a tensor: the tensor before, none that was
/// `seen`, and the node between. None where it was given them.
std::optional<Explainer::Step> Explainer::stepBack(unsigned tensor, llvm::ArrayRef<AxisRef> axes,
                                                   const llvm::DenseSet<unsigned> &seen) const {
  const Propagation::Growth *growth = growthOf(tensor, axes);
  if (growth && growth->from != ShardingGraph::none && !seen.contains(growth->from))
    return Step{growth->from, growth->node};
  // A decision that keeps what had come by propagation has no history: its operands have.
  const ShardingGraph &graph = planned.function->graph;
  unsigned producer = graph.tensors[tensor].producer;
  if (producer == ShardingGraph::none)
    return std::nullopt;
  for (unsigned operand : graph.nodes[producer].operands)
    if (!seen.contains(operand) &&
        llvm::any_of(planned.shardings->get(operand).dims,
                     [&](const AxisList &list) { return overlaps(list, axes); }))
      return Step{operand, producer};
  return std::nullopt;
}

Origin Explainer::originOf(unsigned tensor, unsigned dim, const AxisList &axes) const {
  Origin origin{str(planned.mesh, axes), dim, "propagated", {}, ""};
  llvm::DenseSet<unsigned> seen;
  while (seen.insert(tensor).second) {
    if (const plan::Decision *decision = decisionOf(tensor); decision && decides(*decision, axes)) {
      origin.decided = tensor;
      origin.reason = decision->reason();
      if (origin.steps.empty())
        origin.origin = originName(*decision);
      else
        origin.steps.push_back("which the plan decides (" + originName(*decision) + ")");
      break;
    }
    std::optional<Step> step = stepBack(tensor, axes, seen);
    if (std::string split = describeSplit(tensor); !step && !split.empty()) {
      origin.decided = tensor;
      origin.reason = split;
      if (origin.steps.empty())
        origin.origin = "chosen";
      else
        origin.steps.push_back("where the search splits so");
    }
    if (!step)
      break;
    mlir::Operation *op = planned.function->operations[step->node];
    if (origin.steps.size() < maxSteps)
      origin.steps.push_back(fmt::format("from '{}' through {}", nameOf(step->from),
                                         op->getName().getStringRef().str()));
    tensor = step->from;
  }
  return origin;
}

/// The axes that a collective goes over: of a sub-axis, "model:(1)2", its axis.
static AxisList getAxes(const MeshShape &mesh, const runtime::CollectiveRecord &record) {
  AxisList axes;
  for (llvm::StringRef name : record.axes)
    axes.push_back(fullAxis(mesh, *mesh.find(name.split(':').first)));
  return axes;
}

/// What is made of a tensor, as far as that is split over an axis, and the first values that are
/// not: by source name.
llvm::StringSet<> Explainer::listMadeOf(unsigned tensor, AxisRef axis) const {
  const ShardingGraph &graph = planned.function->graph;
  auto isSplit = [&](unsigned other) {
    return llvm::any_of(getHeldForm(planned, other).dims,
                        [&](const AxisList &dim) { return overlaps(dim, axis); });
  };
  llvm::StringSet<> made;
  llvm::SmallVector<unsigned> open{tensor};
  llvm::DenseSet<unsigned> seen{tensor};
  while (!open.empty()) {
    unsigned from = open.pop_back_val();
    if (from != tensor)
      made.insert(getSourceName(planned.function->values[from]));
    if (!isSplit(from))
      continue;
    for (unsigned user : graph.tensors[from].users)
      for (unsigned result : graph.nodes[user].results)
        if (seen.insert(result).second)
          open.push_back(result);
  }
  return made;
}

/// Adds the collectives over an axis of a tensor by which what is made of it is put together.
void Explainer::addEffects(unsigned tensor, AxisRef axis,
                           llvm::ArrayRef<PricedCollective> collectives,
                           std::vector<PricedCollective> &effects) const {
  llvm::StringSet<> made = listMadeOf(tensor, axis);
  for (const PricedCollective &collective : collectives) {
    const runtime::CollectiveRecord &record = collective.record;
    bool isKnown = llvm::any_of(effects, [&](const PricedCollective &effect) {
      return effect.record.source == record.source && effect.record.kind == record.kind &&
             effect.record.axes == record.axes;
    });
    if (!isKnown && isOfThisMesh(record.mesh) && !record.isTransfer() &&
        made.contains(record.source) && overlaps(getAxes(planned.mesh, record), axis))
      effects.push_back(collective);
  }
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

Explanation Explainer::explain(unsigned tensor,
                               llvm::ArrayRef<PricedCollective> collectives) const {
  mlir::Value value = planned.function->values[tensor];
  TensorSharding sharding = getHeldForm(planned, tensor);
  Explanation result;
  result.value = nameOf(tensor);
  llvm::raw_string_ostream(result.type) << value.getType();
  result.sharding = str(planned.mesh, sharding);
  result.mesh = planned.mesh.name;
  const TensorSharding &own = planned.shardings->get(tensor);
  for (auto [dim, axes] : llvm::enumerate(sharding.dims))
    for (AxisRef axis : axes) {
      Origin origin = originOf(tensor, dim, {axis});
      bool isFound = overlaps(own.dims[dim], axis) &&
                     (origin.decided != ShardingGraph::none || !origin.steps.empty());
      result.origins.push_back(isFound ? origin : readOrigin(tensor, dim, {axis}));
    }
  if (const plan::Decision *decision = decisionOf(tensor); decision && result.origins.empty())
    result.origins.push_back({"", 0, originName(*decision), {}, decision->reason(), tensor});
  result.sums = listSums(tensor);
  std::string source = getSourceName(value);
  for (const PricedCollective &collective : collectives)
    if (isOfThisMesh(collective.record.mesh) && !source.empty() &&
        collective.record.source == source)
      result.collectives.push_back(collective);
  for (const AxisList &dim : sharding.dims)
    for (AxisRef axis : dim)
      addEffects(tensor, axis, collectives, result.effects);
  return result;
}
