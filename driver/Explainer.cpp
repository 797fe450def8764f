#include "driver/Explainer.h"

#include "compiler/Plan/ApplyPlan.h"
#include "compiler/Plan/PlanSyntax.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
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
    : planned(planned), plan(plan), names(planned.main) {
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
  ValueSummary summary{nameOf(tensor), "", str(planned.mesh, planned.shardings->get(tensor)), "",
                       planned.mesh.name};
  llvm::raw_string_ostream(summary.type) << planned.function->values[tensor].getType();
  if (const plan::Decision *decision = decisionOf(tensor))
    summary.origin = originName(*decision);
  else if (!planned.shardings->get(tensor).isReplicated())
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
  return decision.origin() == plan::USER ||
         llvm::any_of(decision.chosen_axes(), [&](const std::string &name) {
           std::optional<unsigned> axis = planned.mesh.find(name);
           return axis && overlaps(axes, fullAxis(planned.mesh, *axis));
         });
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

/// The tensor whose decision makes a collective: where its value is a reduction, how what is
/// reduced came to be split; else how the value itself did.
unsigned Explainer::causeOf(const runtime::CollectiveRecord &record) const {
  std::optional<unsigned> about = find(record.source);
  if (!about || record.isTransfer())
    return ShardingGraph::none;
  AxisList axes;
  for (llvm::StringRef name : record.axes) // of a sub-axis, "model:(1)2", its axis
    axes.push_back(fullAxis(planned.mesh, *planned.mesh.find(name.split(':').first)));
  llvm::SmallVector<unsigned, 4> places{*about};
  const ShardingGraph &graph = planned.function->graph;
  if (unsigned node = graph.tensors[*about].producer; node != ShardingGraph::none)
    places.append(graph.nodes[node].operands.begin(), graph.nodes[node].operands.end());
  for (unsigned tensor : places)
    for (auto [dim, list] : llvm::enumerate(planned.shardings->get(tensor).dims))
      if (overlaps(list, axes))
        return originOf(tensor, dim, list).decided;
  return ShardingGraph::none;
}

//===----------------------------------------------------------------------===//
// Why it is not split
//===----------------------------------------------------------------------===//

/// The axes that the search left to the user.
std::vector<bool> Explainer::axesOfUser() const {
  std::vector<bool> named(planned.mesh.axes.size());
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.origin() != plan::USER || !isOfThisMesh(decision.sharding().mesh()) ||
        !checkAxes(decision, toPlan(planned.mesh)).empty())
      continue;
    std::optional<unsigned> tensor = find(decision.value());
    bool weight = tensor && planned.function->graph.tensors[*tensor].weight;
    TensorSharding sharding = fromPlan(decision.sharding(), planned.mesh);
    for (auto [index, axis] : llvm::enumerate(planned.mesh.axes))
      if (sharding.uses(fullAxis(planned.mesh, index)) && !(weight && isBatchAxis(axis.name)))
        named[index] = true;
  }
  return named;
}

static std::string describeObstacle(Obstacle::Kind kind) {
  switch (kind) {
  case Obstacle::Kind::None:
    break;
  case Obstacle::Kind::Indivisible:
    return "where it is joined with others and does not divide";
  case Obstacle::Kind::NeedsReplication:
    return "which needs the dimension whole";
  case Obstacle::Kind::Contracted:
    return "which sums over it, and partial sums would have to be joined";
  case Obstacle::Kind::Minor:
    return "where it becomes an inner part of a dimension";
  }
  return "";
}

std::string Explainer::describe(const ReplicationReason &reason, unsigned tensor) const {
  const MeshAxis &axis = planned.mesh.axes[reason.axis];
  auto nodeName = [&] {
    mlir::Operation *op = planned.function->operations[reason.obstacle.node];
    return op->getName().getStringRef().str();
  };
  switch (reason.kind) {
  case ReplicationReason::Kind::Summed:
    return nodeName() + " sums over what " + axis.name + " splits: its partial sums are joined";
  case ReplicationReason::Kind::PinnedAxis:
    return "the user decides what " + axis.name + " splits";
  case ReplicationReason::Kind::NoBatch:
    return axis.name + " takes the batch and nothing else";
  case ReplicationReason::Kind::Batch:
    return "the batch, which " + axis.name + " does not take";
  case ReplicationReason::Kind::Indivisible:
    return fmt::format("its blocks of {} elements do not divide by {}",
                       localExtent(planned.function->graph.tensors[tensor].shape[*reason.dim],
                                   planned.shardings->get(tensor).dims[*reason.dim]),
                       axis.size);
  case ReplicationReason::Kind::ProducedReplicated:
    return nodeName() + ", which makes it, needs the dimension whole";
  case ReplicationReason::Kind::NeedsReshard: {
    mlir::Operation *op = planned.function->operations[reason.obstacle.node];
    return fmt::format("a split would meet '{}' ({}), {}", names.get(op->getResult(0)), nodeName(),
                       describeObstacle(reason.obstacle.kind));
  }
  case ReplicationReason::Kind::NotChosen:
    return "it could be split, but no head, expert or weight that is split leads to it";
  }
  return "";
}

/// What the search weighed, as the plan holds it, then what stood in the way of each dimension.
/// Nothing of a value that was decided to be as it is.
std::vector<Unsplit> Explainer::whyUnsplit(unsigned tensor) const {
  const plan::Decision *decision = decisionOf(tensor);
  if (decision && (decision->origin() == plan::USER || decision->chosen_axes().empty()))
    return {};
  std::vector<Unsplit> notes;
  for (const plan::Refusal &refusal : plan.refusals())
    if (isOfThisMesh(refusal.mesh()) && refusal.value() == nameOf(tensor))
      notes.push_back({refusal.axis(), {}, refusal.reason()});
  ReplicationReasons reasons(planned.function->graph, planned.mesh, *planned.shardings,
                             axesOfUser());
  llvm::SmallVector<unsigned, 1> loads{tensor};
  if (auto load = planned.function->values[tensor].getDefiningOp<LoadOp>())
    loads = planned.loads.lookup(load.getWeight());
  size_t weighed = notes.size();
  for (const ReplicationReason &reason : reasons.of(loads)) {
    Unsplit note{planned.mesh.axes[reason.axis].name, {}, describe(reason, tensor)};
    if (reason.kind == ReplicationReason::Kind::NotChosen &&
        llvm::any_of(llvm::ArrayRef(notes).take_front(weighed),
                     [&](const Unsplit &refused) { return refused.axis == note.axis; }))
      continue;
    auto same = llvm::find_if(notes, [&](const Unsplit &other) {
      return other.axis == note.axis && other.reason == note.reason;
    });
    if (same == notes.end())
      same = notes.insert(notes.end(), note);
    if (reason.dim)
      same->dims.push_back(*reason.dim);
  }
  std::vector<Unsplit> ordered; // by axis
  for (const MeshAxis &axis : planned.mesh.axes)
    llvm::copy_if(notes, std::back_inserter(ordered),
                  [&](const Unsplit &note) { return note.axis == axis.name; });
  return ordered;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

Explanation Explainer::explain(unsigned tensor,
                               llvm::ArrayRef<runtime::InspectedCollective> collectives) const {
  mlir::Value value = planned.function->values[tensor];
  const TensorSharding &sharding = planned.shardings->get(tensor);
  Explanation result;
  result.value = nameOf(tensor);
  llvm::raw_string_ostream(result.type) << value.getType();
  result.sharding = str(planned.mesh, sharding);
  result.mesh = planned.mesh.name;
  for (auto [dim, axes] : llvm::enumerate(sharding.dims))
    for (AxisRef axis : axes)
      result.origins.push_back(originOf(tensor, dim, {axis}));
  if (const plan::Decision *decision = decisionOf(tensor); decision && result.origins.empty())
    result.origins.push_back({"", 0, originName(*decision), {}, decision->reason(), tensor});
  result.unsplit = whyUnsplit(tensor);
  std::string source = getSourceName(value);
  bool isDecided = decisionOf(tensor) != nullptr;
  for (const runtime::InspectedCollective &collective : collectives)
    if (!isOfThisMesh(collective.record.mesh))
      continue;
    else if (!source.empty() && collective.record.source == source)
      result.collectives.push_back(collective);
    else if (isDecided && causeOf(collective.record) == tensor)
      result.effects.push_back(collective);
  return result;
}
