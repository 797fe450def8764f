#include "frontends/torch_export/GraphImporter.h"

#include "frontends/common/ImportError.h"
#include "frontends/torch_export/ops/Complex.h"
#include "frontends/torch_export/ops/Computed.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Graphs that hold graphs can make a small file large; no real model comes near.
static constexpr int64_t maxWalkedNodes = 4'000'000;

GraphImporter::GraphImporter(const Symbols &symbols, Emitter &emit, Problems &problems)
    : operators(makeOpTable()), symbols(symbols), emit(emit), problems(problems) {}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string GraphImporter::sourceName(const Scope &scope, const GraphNode &node,
                                      StringRef value) const {
  std::string name = scope.prefix + value.str();
  return node.modulePath.empty() ? name : node.modulePath + "/" + name;
}

/// A part of complex numbers.
static Value lookupPart(const Scope &scope, StringRef name, Value real, Value imaginary) {
  if (scope.part == ComplexPart::None || scope.aliases.isStale(name))
    throw ImportError("it uses complex numbers, '" + name.str() +
                      "', in a way that is not supported");
  return scope.part == ComplexPart::Real ? real : imaginary;
}

ScalarType weft::frontend::aten::partType(const Scope &scope, ScalarType type) {
  return scope.part == ComplexPart::None ? type : partOfComplex(type).value_or(type);
}

Value GraphImporter::lookup(Scope &scope, StringRef name) {
  auto found = scope.values.find(name);
  if (auto imaginary = scope.imaginary.find(name); imaginary != scope.imaginary.end())
    return lookupPart(scope, name, found->second, imaginary->second);
  if (found != scope.values.end())
    return scope.aliases.isStale(name) ? refreshed(scope, name) : found->second;
  if (scope.failed.contains(name))
    throw FailedValue();
  if (scope.omitted.contains(name))
    throw ImportError("it uses '" + name.str() +
                      "', a result that is not supported of the node that makes it");
  throw ImportError("value '" + name.str() + "' is not defined");
}

Number GraphImporter::lookupNumber(Scope &scope, StringRef name) {
  auto found = scope.numbers.find(name);
  if (found != scope.numbers.end())
    return found->second;
  if (scope.failed.contains(name))
    throw FailedValue();
  if (scope.computed.contains(name))
    throw ImportError("number '" + name.str() +
                      "' depends on values, which is supported where a slice begins only");
  throw ImportError("number '" + name.str() + "' is not defined");
}

static Shape sizesOf(const Symbols &symbols, const TensorMeta &meta, ArrayRef<int64_t> otherwise) {
  Shape sizes;
  for (auto [index, size] : llvm::enumerate(meta.sizes))
    sizes.push_back(symbols.evaluate(size).value_or(
        index < otherwise.size() ? otherwise[index] : ShapedType::kDynamic));
  return sizes;
}

void GraphImporter::checkValue(const Scope &scope, StringRef name, Value value) const {
  auto meta = scope.graph.tensors.find(name);
  if (meta == scope.graph.tensors.end())
    return;
  // Sizes that only running tells agree with whatever was computed.
  Shape sizes = sizesOf(symbols, meta->second, shapeOf(value));
  Type element = elementType(value.getContext(), partType(scope, meta->second.dtype));
  RankedTensorType declared = tensorType(sizes, element);
  if (declared != typeOf(value))
    throw ImportError("value '" + name.str() + "' is " + describe(value) + ", but declared as " +
                      describe(declared));
}

void GraphImporter::bind(Scope &scope, StringRef name, Value value) {
  checkValue(scope, name, value);
  (scope.part == ComplexPart::Imaginary ? scope.imaginary : scope.values)[name] = value;
}

void GraphImporter::bindNumber(Scope &scope, StringRef name, Number number) {
  auto size = scope.graph.symInts.find(name);
  auto *integer = std::get_if<int64_t>(&number);
  if (size != scope.graph.symInts.end() && integer)
    if (std::optional<int64_t> declared = symbols.evaluate(size->second);
        declared && *declared != *integer)
      throw ImportError("number '" + name.str() + "' is " + std::to_string(*integer) +
                        ", but declared as " + std::to_string(*declared));
  scope.numbers[name] = number;
}

void GraphImporter::fail(Scope &scope, const GraphNode &node) {
  for (const std::string &name : resultNames(node))
    if (!name.empty()) {
      scope.values.erase(name);
      scope.imaginary.erase(name);
      scope.numbers.erase(name);
      scope.failed.insert(name);
    }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void GraphImporter::walk(Scope &scope) {
  for (const GraphNode &node : scope.graph.nodes)
    importNode(scope, node);
}

void GraphImporter::importNode(Scope &scope, const GraphNode &node) {
  if (++walked > maxWalkedNodes)
    throw std::length_error("the program has too many nodes once its graphs are inlined");
  try {
    dispatch(scope, node);
  } catch (const ImportError &error) {
    problems.add("node '" + sourceName(scope, node, node.name) + "' (" + operatorName(node) +
                 "): " + error.what());
    fail(scope, node);
  } catch (const FailedValue &) {
    fail(scope, node);
  }
}

void GraphImporter::dispatch(Scope &scope, const GraphNode &call) {
  std::string target = operatorName(call);
  auto importer = operators.find(target);
  bool inPlace = importer == operators.end();
  if (inPlace)
    importer = operators.find(functionalTarget(target));
  if (importer == operators.end()) {
    problems.addUnsupported(operatorName(call), sourceName(scope, call, call.name));
    return fail(scope, call);
  }
  Node node(call, *this, scope);
  emit.setName(sourceName(scope, call, node.wants(0) ? node.resultName(0) : call.name));
  if (!inPlace && concernsComplex(scope, call)) {
    importComplex(*this, scope, call, importer->second);
    return noteViews(node);
  }
  if (importComputed(node))
    return;
  if (inPlace)
    importInPlace(node, importer->second);
  else
    importer->second(node);
  node.checkArguments();
  node.checkResults();
  noteViews(node);
}

/// The result takes the type of `self` and its place.
void GraphImporter::importInPlace(Node &node, OpImporter importer) {
  const Argument *self = node.find("self");
  auto *name = self ? self->as<TensorName>() : nullptr;
  if (!name || !node.wants(0))
    throw ImportError("expected a tensor 'self' and a result");
  Value old = lookup(node.scope, name->name);
  node.castResults(elementOf(old));
  importer(node);
  Value value = lookup(node.scope, node.resultName(0));
  if (typeOf(value) != typeOf(old))
    throw ImportError("it changes " + describe(old) + " to " + describe(value) +
                      " in place, which is not supported");
  if (value != old)
    assign(node.scope, name->name, value);
}

/// Binds an operand to the name that a graph has for it.
static void bindOperand(Node &node, Scope &inner, const Argument &input, const Argument &operand) {
  if (auto *tensor = input.as<TensorName>()) {
    auto *given = operand.as<TensorName>();
    if (!given)
      throw ImportError("operand '" + tensor->name + "' of the graph is no tensor");
    inner.values[tensor->name] = node.graph.lookup(node.scope, given->name);
  } else if (auto *scalar = input.as<Scalar>()) {
    if (auto *symbol = std::get_if<SymbolName>(scalar))
      inner.numbers[symbol->name] = node.numberOf(operand, symbol->name);
  }
}

/// What a graph did to its input in place, it did to the operand.
static void changeOperand(Node &node, const Argument &operand, Value value, bool isSure) {
  const std::string &name = operand.as<TensorName>()->name; // or it were not bound
  if (!isSure)
    throw ImportError("it changes '" + name +
                      "' in place under a condition that only running "
                      "tells, which is not supported: return its new value from both branches, and "
                      "copy_() the result to it");
  node.graph.assign(node.scope, name, value);
}

SmallVector<Value> GraphImporter::inlineGraph(Node &node, const Graph &graph,
                                              ArrayRef<Argument> operands, bool isSure) {
  constexpr int maxDepth = 64;
  Scope inner(graph);
  inner.depth = node.scope.depth + 1;
  inner.prefix = node.scope.prefix + node.call.name + ".";
  if (inner.depth > maxDepth)
    throw ImportError("graphs are nested too deeply");
  if (graph.inputs.size() != operands.size())
    throw ImportError("the graph takes " + std::to_string(graph.inputs.size()) +
                      " operands, but is given " + std::to_string(operands.size()));
  if (graph.outputs.size() != node.results())
    throw ImportError("the graph gives " + std::to_string(graph.outputs.size()) +
                      " results, but the node has " + std::to_string(node.results()));
  for (auto [input, operand] : llvm::zip(graph.inputs, operands))
    bindOperand(node, inner, input, operand);
  walk(inner);
  for (auto [input, operand] : llvm::zip(graph.inputs, operands))
    if (auto *tensor = input.as<TensorName>(); tensor && inner.changedInputs.contains(tensor->name))
      changeOperand(node, operand, lookup(inner, tensor->name), isSure);
  SmallVector<Value> results;
  for (const Argument &output : graph.outputs)
    if (auto *tensor = output.as<TensorName>())
      results.push_back(lookup(inner, tensor->name));
    else if (output.as<None>())
      results.emplace_back();
    else
      throw ImportError("a result of the graph is " + output.member + ", which is not supported");
  return results;
}
