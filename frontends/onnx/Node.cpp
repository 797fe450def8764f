#include "frontends/onnx/Node.h"

#include "compiler/Interpret/Numbers.h"
#include "frontends/common/Dims.h"
#include "frontends/onnx/GraphImporter.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using onnx::AttributeProto;

Node::Node(const onnx::NodeProto &proto, GraphImporter &graph, Scope &scope, int64_t opset)
    : proto(proto), graph(graph), scope(scope), emit(graph.emitter()), opset(opset) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Node::has(size_t index) const { return index < operands() && !proto.input(index).empty(); }

Value Node::operand(size_t index) const {
  if (!has(index))
    throw ImportError("operand " + std::to_string(index) + " is missing");
  return graph.lookup(scope, proto.input(index));
}

SmallVector<Value> Node::allOperands() const {
  SmallVector<Value> values;
  for (size_t i = 0; i < operands(); ++i)
    values.push_back(operand(i));
  if (values.empty())
    throw ImportError("expected at least one operand");
  return values;
}

const Tensor &Node::constant(size_t index, StringRef what) const {
  const Tensor *value = has(index) ? graph.floatInitializer(scope, proto.input(index)) : nullptr;
  if (!value)
    value = emit.valueOf(operand(index));
  if (!value)
    throw ImportError(what.str() + " ('" + proto.input(index) +
                      "') must be a constant: it decides shapes and may not depend on the model's "
                      "inputs, nor lie in a missing data file");
  return *value;
}

Shape Node::integers(size_t index, StringRef what) const {
  constexpr int64_t most = 1 << 16; // sizes, axes, bounds: one a dimension or a result
  const Tensor &value = constant(index, what);
  if (isFloat(value.kind()) || value.rank() > 1 || value.size() > most)
    throw ImportError(what.str() + " must be integers of rank 0 or 1, at most " +
                      std::to_string(most) + ", got " + describe(operand(index)));
  std::vector<int64_t> numbers = numbersOf<int64_t>(value);
  return Shape(numbers.begin(), numbers.end());
}

int64_t Node::integer(size_t index, StringRef what) const {
  Shape values = integers(index, what);
  if (values.size() != 1)
    throw ImportError(what.str() + " must be one integer, got " + std::to_string(values.size()));
  return values.front();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *Node::attribute(StringRef name) const {
  known.push_back(name);
  for (const AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return graph.resolve(scope, attribute);
  return nullptr;
}

void Node::checkAttributes() const { // "consumed_inputs" is a hint of the oldest operator sets.
  for (const AttributeProto &attribute : proto.attribute())
    if (!llvm::is_contained(known, attribute.name()) && attribute.name() != "consumed_inputs")
      throw ImportError("attribute '" + attribute.name() + "' is not supported");
}

/// An attribute of the expected type, or null. Some exporters leave the type out.
static const AttributeProto *typed(const Node &node, StringRef name,
                                   AttributeProto::AttributeType type) {
  const AttributeProto *attribute = node.attribute(name);
  if (attribute && attribute->has_type() && attribute->type() != type)
    throw ImportError("attribute '" + name.str() + "' is of type " +
                      AttributeProto::AttributeType_Name(attribute->type()) + ", expected " +
                      AttributeProto::AttributeType_Name(type));
  return attribute;
}

int64_t Node::getInt(StringRef name, int64_t otherwise) const {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::INT);
  return attribute ? attribute->i() : otherwise;
}

double Node::getFloat(StringRef name, double otherwise) const {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::FLOAT);
  return attribute ? double(attribute->f()) : otherwise;
}

std::string Node::getString(StringRef name, StringRef otherwise) const {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::STRING);
  return attribute ? attribute->s() : otherwise.str();
}

Shape Node::getInts(StringRef name, Shape otherwise) const {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::INTS);
  return attribute ? Shape(attribute->ints().begin(), attribute->ints().end()) : otherwise;
}

int64_t Node::requiredInt(StringRef name) const {
  if (!attribute(name))
    throw ImportError("attribute '" + name.str() + "' is missing");
  return getInt(name, 0);
}

int64_t Node::dim(int64_t given, int64_t rank, bool inclusive) const {
  int64_t result = given < 0 ? given + rank + inclusive : given;
  if (result < 0 || result >= rank + inclusive)
    throw ImportError("axis " + std::to_string(given) + " is out of range for rank " +
                      std::to_string(rank));
  return result;
}

Shape Node::dims(ArrayRef<int64_t> given, int64_t rank) const {
  return sortedDims(given, [&](int64_t axis) { return dim(axis, rank); });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool Node::wants(size_t index) const {
  return index < size_t(proto.output_size()) && !proto.output(index).empty();
}

void Node::beginResult(size_t index) {
  if (wants(index))
    emit.setName(graph.sourceName(scope, proto.output(index)));
}

void Node::result(size_t index, Value value) {
  if (!wants(index))
    return;
  emit.nameResult(value, graph.sourceName(scope, proto.output(index)));
  graph.bind(scope, proto.output(index), value);
}
