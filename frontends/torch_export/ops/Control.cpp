// Operators that hold graphs, and checks that exporters leave in the graph.

#include "frontends/common/StopGradient.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static const Graph &graphAt(Node &node, size_t index) {
  auto *held = node.argumentAt(index).as<GraphArgument>();
  if (!held)
    throw ImportError("argument " + std::to_string(index) + " is no graph");
  return *held->graph;
}

/// The arguments from `first` on, lists taken apart.
static SmallVector<Argument> operandsFrom(Node &node, size_t first) {
  SmallVector<Argument> operands;
  for (size_t i = first; i < node.arguments(); ++i) {
    const Argument &argument = node.argumentAt(i);
    if (auto *tensors = argument.as<std::vector<std::optional<TensorName>>>()) {
      for (const std::optional<TensorName> &tensor : *tensors)
        operands.push_back(tensor ? Argument{"as_tensor", *tensor} : Argument());
    } else if (auto *scalars = argument.as<std::vector<Scalar>>()) {
      for (const Scalar &scalar : *scalars)
        operands.push_back(Argument{argument.member, scalar});
    } else {
      operands.push_back(argument);
    }
  }
  return operands;
}

static void bindResults(Node &node, ArrayRef<Value> values) {
  for (auto [index, value] : llvm::enumerate(values))
    if (value)
      node.result(index, value);
}

/// The graph at `index`, given the operands behind it.
static void inlineAt(Node &node, size_t index) {
  bindResults(node,
              node.graph.inlineGraph(node, graphAt(node, index), operandsFrom(node, index + 1)));
}

static void importSetGradEnabled(Node &node) { // (enabled, graph, operands…)
  constexpr size_t graph = 1;
  bool isEnabled = asDouble(node.numberAt(0)) != 0;
  SmallVector<Value> results =
      node.graph.inlineGraph(node, graphAt(node, graph), operandsFrom(node, graph + 1));
  for (Value &value : results)
    if (value && !isEnabled)
      value = stopGradient(node.emit, value);
  bindResults(node, results);
}

static void importAutocast(Node &node) { // (device, dtype, enabled, cache, graph, operands…)
  constexpr size_t enabled = 2, graph = 4;
  if (asDouble(node.numberAt(enabled)) != 0)
    throw ImportError("automatic casting is not supported: export the model outside of "
                      "torch.autocast, or converted to the narrow type");
  for (size_t i = 0; i < graph; ++i)
    node.argumentAt(i);
  inlineAt(node, graph);
}

/// The predicate of a conditional, where it is known.
static std::optional<bool> knownPredicate(Node &node, Value &unknown) {
  const Argument &predicate = node.argumentAt(0);
  auto *tensor = predicate.as<TensorName>();
  if (!tensor)
    return asDouble(node.numberAt(0)) != 0;
  unknown = node.graph.lookup(node.scope, tensor->name);
  const Tensor *value = node.emit.valueOf(unknown);
  if (!elementOf(unknown).isInteger(1) || typeOf(unknown).getNumElements() != 1)
    throw ImportError("expected one bool as predicate, got " + describe(unknown));
  return value ? std::optional(*value->data() != 0) : std::nullopt;
}

/// A branch that depends on values is taken by choosing between the results of both: they must have
/// no effects.
static void importCond(Node &node) { // (predicate, onTrue, onFalse, operands)
  Value predicate;
  std::optional<bool> known = knownPredicate(node, predicate);
  const Graph &onTrue = graphAt(node, 1), &onFalse = graphAt(node, 2);
  SmallVector<Argument> operands = operandsFrom(node, 3);
  if (known)
    return bindResults(node, node.graph.inlineGraph(node, *known ? onTrue : onFalse, operands));
  SmallVector<Value> first = node.graph.inlineGraph(node, onTrue, operands, /*isSure=*/false),
                     second = node.graph.inlineGraph(node, onFalse, operands, /*isSure=*/false);
  predicate = node.emit.reshape(predicate, {});
  for (auto [index, a, b] : llvm::enumerate(first, second))
    if (a && b && node.wants(index)) {
      node.beginResult(index);
      node.result(index, node.emit.select(predicate, a, b));
    }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Types and shapes are static: they are compared while importing.
static void importAssertMetadata(Node &node) {
  Value a = node.tensor("a");
  node.ignore({"stride"});
  Type type = node.dtype("dtype", elementOf(a));
  Shape size = node.integers("size", Shape(shapeOf(a)));
  if (type != elementOf(a) || ArrayRef<int64_t>(size) != shapeOf(a))
    throw ImportError("the program asserts another type or shape than " + describe(a));
}

static void importAssertScalar(Node &node) {
  if (asDouble(node.number("self")) == 0)
    throw ImportError("the program asserts what these sizes do not meet: " +
                      node.text("assert_msg", "no reason given"));
  node.ignore({"assert_msg"});
}

/// What only running tells is not checked: the results are those of a program whose assertions
/// hold.
static void importAssertAsync(Node &node) { node.ignore({"self", "assert_msg"}); }

static void importConstrainRange(Node &node) {
  double size = node.real("size");
  if ((node.has("min") && size < node.real("min")) || (node.has("max") && size > node.real("max")))
    throw ImportError("a size of " + std::to_string(int64_t(size)) +
                      " is out of the range that the program asserts");
}

void weft::frontend::aten::addControl(OpTable &table) {
  table["aten._assert_async.default"] = importAssertAsync;
  table["aten._assert_async.msg"] = importAssertAsync;
  table["aten._assert_scalar.default"] = importAssertScalar;
  table["aten._assert_tensor_metadata.default"] = importAssertMetadata;
  table["aten.sym_constrain_range.default"] = importConstrainRange;
  table["aten.sym_constrain_range_for_size.default"] = importConstrainRange;
  table["higher_order.cond"] = importCond;
  table["higher_order.wrap_with_autocast"] = importAutocast;
  table["higher_order.wrap_with_set_grad_enabled"] = importSetGradEnabled;
}
