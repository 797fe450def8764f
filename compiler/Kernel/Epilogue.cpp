#include "compiler/Kernel/Epilogue.h"

#include "compiler/Kernel/LoopPlan.h"

using namespace mlir;
using namespace weft;
using namespace weft::kernel;

namespace {

/// Looks at every element that a plan's output is made of.
class PlaceCheck {
public:
  PlaceCheck(const Graph &graph, LoopPlan &plan, unsigned argument)
      : graph(graph), plan(plan), argument(argument), place(plan.outputs.front().address) {}

  /// Whether all elements of the argument that an element is made of lie in the output's place.
  bool holds(const Element &element) {
    if (!seen.insert(element).second)
      return true;
    auto &[number, index] = element;
    const Node &node = graph[number];
    if (number == argument) {
      Affine address;
      for (auto [value, stride] : llvm::zip_equal(index, node.as<Input>().strides))
        address = address + value * stride;
      return plan.vars.recombine(address) == place;
    }
    for (unsigned operand = 0; operand < node.operands.size(); ++operand)
      if (!holds(
              {node.operands[operand], getOperandIndex(graph, plan.vars, number, operand, index)}))
        return false;
    return true;
  }

private:
  const Graph &graph;
  LoopPlan &plan;
  unsigned argument;
  Affine place;
  std::set<Element> seen;
};

} // namespace

/// Whether the kernel is a plain loop over its result's elements.
static bool isElementwise(const Graph &graph) {
  return graph.outputs.size() == 1 && graph.checks.empty() &&
         llvm::none_of(graph.nodes,
                       [](const Node &node) { return node.isReduction() || node.isOrdered(); });
}

static ResultTiles getTiles(const LoopPlan &plan) {
  if (plan.lane)
    return {plan.laneWidth, plan.laneTotal};
  int64_t inner = 1;
  for (VarId loop : plan.inner)
    inner *= plan.getExtent(loop);
  return {inner, inner};
}

std::optional<ResultTiles> weft::getEpilogueTiles(func::FuncOp kernel, unsigned argument) {
  FailureOr<Graph> graph = buildGraph(kernel);
  if (failed(graph) || !isElementwise(*graph))
    return std::nullopt;
  unsigned operand = 0;
  for (unsigned number = 0; number < argument; ++number)
    operand += !kernel.getArgAttr(number, "exec.param");
  unsigned input = graph->inputs[operand];
  const Node &from = (*graph)[input], &to = (*graph)[graph->outputs.front()];
  if (from.type != to.type || from.size() != to.size() || to.size() == 0)
    return std::nullopt;
  llvm::Expected<LoopPlan> plan = LoopPlan::make(*graph);
  if (!plan)
    return llvm::consumeError(plan.takeError()), std::nullopt;
  ResultTiles tiles = getTiles(*plan);
  int64_t tilesInRow = (tiles.row - 1) / tiles.tile + 1;
  bool isWhole =
      to.size() % tiles.row == 0 && plan->getTiles() == to.size() / tiles.row * tilesInRow;
  if (!isWhole || !PlaceCheck(*graph, *plan, input).holds(plan->outputs.front().element))
    return std::nullopt;
  return tiles;
}
