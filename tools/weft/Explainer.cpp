#include "tools/weft/Explainer.h"

#include "compiler/Plan/ApplyPlan.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace weft;
using namespace weft::tool;

/// A chain of propagation longer than this is cut: it repeats a layer.
static constexpr size_t maxSteps = 24;

static std::string originName(const plan::Decision &decision) {
  return decision.origin() == plan::USER         ? "user"
         : decision.origin() == plan::PROPAGATED ? "propagated"
                                                 : "chosen";
}

Explainer::Explainer(const PlannedModule &planned, const plan::Plan &plan)
    : planned(planned), names(planned.main) {
  for (const plan::Decision &decision : plan.decisions())
    decisions[decision.value()] = &decision;
  mlir::func::FuncOp main = planned.main;
  for (mlir::OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands())
    if (const plan::Decision *decision =
            decisions.lookup(resultPrefix.str() + getResultName(main, operand.getOperandNumber())))
      ofReturned.try_emplace(operand.get(), decision);
  for (auto [index, growth] : llvm::enumerate(planned.shardings->history()))
    growths[growth.tensor].push_back(index);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<unsigned> Explainer::find(llvm::StringRef name) const {
  llvm::StringRef weight = name;
  bool ofWeight = weight.consume_front(weightPrefix);
  if (auto loads = planned.loads.find(weight); loads != planned.loads.end())
    return loads->second.front();
  mlir::Value value = ofWeight ? mlir::Value() : names.lookup(name);
  mlir::func::FuncOp main = planned.main;
  if (!value && name.consume_front(valuePrefix))
    value = names.lookup(name);
  else if (!value && name.consume_front(resultPrefix))
    for (mlir::OpOperand &operand : main.getBody().front().getTerminator()->getOpOperands())
      if (getResultName(main, operand.getOperandNumber()) == name)
        value = operand.get();
  auto found = value ? planned.function->tensors.find(value) : planned.function->tensors.end();
  if (found == planned.function->tensors.end())
    return std::nullopt;
  return found->second;
}

std::vector<std::string> Explainer::allNames() const {
  std::vector<std::string> all = names.all();
  for (const auto &[weight, loads] : planned.loads)
    all.push_back(weight.str());
  return all;
}

const plan::Decision *Explainer::decisionOf(unsigned tensor) const {
  mlir::Value value = planned.function->values[tensor];
  if (auto load = value.getDefiningOp<LoadOp>())
    for (const std::string &name :
         {valuePrefix.str() + names.get(value), (weightPrefix + load.getWeight()).str(),
          load.getWeight().str()})
      if (const plan::Decision *decision = decisions.lookup(name))
        return decision;
  if (const plan::Decision *decision = decisions.lookup(names.get(value)))
    return decision;
  return ofReturned.lookup(value);
}

ValueSummary Explainer::summarize(unsigned tensor, std::string name) const {
  ValueSummary summary{std::move(name), "", str(planned.mesh, planned.shardings->get(tensor)), ""};
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
    all.push_back(summarize(loads.front(), (weightPrefix + weight).str()));
  for (auto [tensor, value] : llvm::enumerate(planned.function->values))
    if (mlir::Operation *op = value.getDefiningOp(); !op || op->getNumOperands() > 0)
      all.push_back(summarize(tensor, names.get(value)));
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
           return axis && overlaps(axes, wholeAxis(planned.mesh, *axis));
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
      origin.steps.push_back(fmt::format("from '{}' through {}",
                                         names.get(planned.function->values[step->from]),
                                         op->getName().getStringRef().str()));
    tensor = step->from;
  }
  return origin;
}

/// The tensor whose decision makes a collective: where its value is a reduction, how what is
/// reduced came to be split; else how the value itself did.
unsigned Explainer::causeOf(const runtime::CollectiveRecord &record) const {
  std::optional<unsigned> about = find(record.source);
  if (!about)
    return ShardingGraph::none;
  AxisList axes;
  for (llvm::StringRef name : record.axes) // of a sub-axis, "model:(1)2", its axis
    axes.push_back(wholeAxis(planned.mesh, *planned.mesh.find(name.split(':').first)));
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

Explanation Explainer::explain(unsigned tensor,
                               llvm::ArrayRef<InspectedCollective> collectives) const {
  mlir::Value value = planned.function->values[tensor];
  const TensorSharding &sharding = planned.shardings->get(tensor);
  Explanation result;
  result.value = names.get(value);
  llvm::raw_string_ostream(result.type) << value.getType();
  result.sharding = str(planned.mesh, sharding);
  for (auto [dim, axes] : llvm::enumerate(sharding.dims))
    for (AxisRef axis : axes)
      result.origins.push_back(originOf(tensor, dim, {axis}));
  if (const plan::Decision *decision = decisionOf(tensor); decision && result.origins.empty())
    result.origins.push_back({"", 0, originName(*decision), {}, decision->reason(), tensor});
  std::string source = getSourceName(value);
  bool isDecided = decisionOf(tensor) != nullptr;
  for (const InspectedCollective &collective : collectives)
    if (!source.empty() && collective.record.source == source)
      result.collectives.push_back(collective);
    else if (isDecided && causeOf(collective.record) == tensor)
      result.effects.push_back(collective);
  return result;
}
