#include "frontends/onnx/GraphImporter.h"

#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::NodeProto;

/// Branches and calls inside each other; enough for any exporter, little enough for the stack.
static constexpr int maxScopeDepth = 64;
/// Functions that call functions can make a small file large; no real model comes near. Nodes that
/// nobody needs count, too: they are looked at.
static constexpr int64_t maxWalkedNodes = 4'000'000;
/// FunctionProto.attribute_proto, which libonnx's schema does not have yet: attributes with
/// defaults.
static constexpr int attributeProtoField = 11;

static StringRef domainOf(StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

static std::string operatorName(StringRef domain, StringRef name) {
  return domainOf(domain).empty() ? name.str() : (domain + "::" + name).str();
}

static std::string nodeName(const NodeProto &node) {
  if (!node.name().empty() || node.output_size() == 0)
    return node.name();
  return node.output(0);
}

static std::list<AttributeProto> readDefaults(const FunctionProto &function) {
  std::list<AttributeProto> defaults;
  const auto &fields = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == attributeProtoField &&
        fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      if (!defaults.emplace_back().ParseFromString(fields.field(i).length_delimited()))
        defaults.pop_back();
  return defaults;
}

GraphImporter::GraphImporter(const onnx::ModelProto &model, ModuleOp module, TensorReader &reader,
                             Emitter &emit, Problems &problems)
    : operators(makeOpTable()), reader(reader), emit(emit), problems(problems),
      weights(module, emit) {
  for (const FunctionProto &function : model.functions()) {
    std::string name = operatorName(function.domain(), function.name());
    functions.try_emplace(name, &function);
    functionDefaults.try_emplace(name, readDefaults(function));
  }
}

llvm::StringMap<int64_t> GraphImporter::readOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports) {
  llvm::StringMap<int64_t> opsets;
  for (const auto &import : imports)
    opsets[domainOf(import.domain())] = import.version();
  return opsets;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void GraphImporter::bind(Scope &scope, StringRef name, Value value) {
  if (!name.empty())
    scope.values[name] = value;
}

void GraphImporter::fail(Scope &scope, const NodeProto &proto) {
  for (const std::string &output : proto.output())
    bind(scope, output, Value());
}

Value GraphImporter::lookup(Scope &scope, StringRef name) {
  for (Scope *at = &scope; at; at = at->parent) {
    if (auto found = at->values.find(name); found != at->values.end()) {
      if (!found->second)
        throw FailedValue();
      return found->second;
    }
    if (auto found = at->initializers.find(name); found != at->initializers.end()) {
      Value value;
      try {
        value = addTensor(*found->second, sourceName(*at, name), /*isParameter=*/true);
      } catch (const ImportError &error) {
        problems.add("initializer '" + name + "': " + error.what());
      }
      bind(*at, name, value);
      if (!value)
        throw FailedValue();
      return value;
    }
  }
  throw ImportError(("value '" + name + "' is not defined").str());
}

const Tensor *GraphImporter::floatInitializer(const Scope &scope, StringRef name) {
  constexpr int64_t mostSizes = 16; // one a dimension
  for (const Scope *at = &scope; at; at = at->parent)
    if (auto found = at->initializers.find(name); found != at->initializers.end()) {
      const onnx::TensorProto &tensor = *found->second;
      bool isVector = tensor.dims_size() == 1 && tensor.dims(0) > 0 && tensor.dims(0) <= mostSizes;
      Type element = elementType(emit.builder.getContext(), tensor.data_type());
      if (!isVector || !isa<FloatType>(element))
        return nullptr;
      StoredTensor stored = reader.read(tensor, /*wantValue=*/true);
      return stored.value ? &shapeFloats.emplace_back(std::move(stored.value)) : nullptr;
    }
  return nullptr;
}

const AttributeProto *GraphImporter::resolve(const Scope &scope,
                                             const AttributeProto &attribute) const {
  if (attribute.ref_attr_name().empty())
    return &attribute;
  for (const Scope *at = &scope; at; at = at->parent)
    if (auto found = at->attributes.find(attribute.ref_attr_name()); found != at->attributes.end())
      return found->second;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

void GraphImporter::addInitializers(Scope &scope, const onnx::GraphProto &graph) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (!scope.initializers.try_emplace(tensor.name(), &tensor).second)
      problems.add("initializer '" + tensor.name() + "' is defined twice");
  for (const auto &sparse : graph.sparse_initializer())
    problems.add("sparse initializer '" + sparse.values().name() + "' is not supported");
}

Value GraphImporter::addTensor(const onnx::TensorProto &tensor, StringRef name, bool isParameter) {
  bool isFloat = isa<FloatType>(elementType(emit.builder.getContext(), tensor.data_type()));
  bool isWeight = isParameter && isFloat && tensor.dims_size() > 0;
  StoredTensor stored = reader.read(tensor, /*wantValue=*/!isWeight);
  if (isWeight && stored.type.getNumElements() > 0)
    return weights.addWeight(stored, name, WeightKind::Parameter);
  return weights.addConstant(std::move(stored), name);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

llvm::StringMap<int> GraphImporter::findProducers(Scope &scope, const Nodes &nodes) {
  llvm::StringMap<int> producers;
  for (const auto &[index, node] : llvm::enumerate(nodes))
    for (const std::string &output : node.output()) {
      if (output.empty())
        continue;
      auto [known, inserted] = producers.try_emplace(output, index);
      if (!inserted)
        problems.add("value '" + output + "' is made twice, by nodes '" +
                     nodeName(nodes[known->second]) + "' and '" + nodeName(node) + "'");
      else if (scope.values.count(output) || scope.initializers.count(output))
        problems.add("value '" + output + "', made by node '" + nodeName(node) +
                     "', is an input or initializer too");
    }
  return producers;
}

void GraphImporter::walk(Scope &scope, const Nodes &nodes, ArrayRef<StringRef> wanted) {
  if (scope.depth > maxScopeDepth)
    throw ImportError("functions or branches are nested too deeply");
  if ((walked += nodes.size()) > maxWalkedNodes)
    throw std::length_error("the model has too many nodes once its functions are inlined");
  NodeOrder order = orderNodes(nodes, findProducers(scope, nodes), wanted);
  if (!order.cyclic.empty()) {
    std::string names;
    for (int index : ArrayRef(order.cyclic).take_front(10))
      names += (names.empty() ? "'" : ", '") + nodeName(nodes[index]) + "'";
    problems.add("nodes depend on each other in a cycle, or on nodes that do: " + names);
  }
  for (int index : order.cyclic)
    fail(scope, nodes[index]);
  for (int index : order.order)
    importNode(scope, nodes[index]);
}

void GraphImporter::importNode(Scope &scope, const NodeProto &proto) {
  std::string name = sourceName(scope, nodeName(proto));
  emit.setName(proto.output_size() > 0 ? sourceName(scope, proto.output(0)) : name);
  try {
    dispatch(scope, proto);
  } catch (const ImportError &error) {
    problems.add("node '" + name + "' (" + operatorName(proto.domain(), proto.op_type()) +
                 "): " + error.what());
    fail(scope, proto);
  } catch (const FailedValue &) {
    fail(scope, proto);
  }
}

void GraphImporter::dispatch(Scope &scope, const NodeProto &proto) {
  std::string name = operatorName(proto.domain(), proto.op_type());
  int64_t opset = 0;
  for (const Scope *at = &scope; at; at = at->parent)
    if (auto found = at->opsets.find(domainOf(proto.domain())); found != at->opsets.end()) {
      opset = found->second;
      break;
    }
  Node node(proto, *this, scope, opset);
  if (auto function = functions.find(name); function != functions.end())
    return inlineFunction(node, *function->second);
  auto importer = operators.find(name);
  if (importer == operators.end()) {
    problems.addUnsupported(name, sourceName(scope, nodeName(proto)));
    return fail(scope, proto);
  }
  importer->second(node);
  node.checkAttributes();
  for (const std::string &output : proto.output())
    if (!output.empty() && !scope.values.count(output))
      throw ImportError("result '" + output + "' is not supported");
}

void GraphImporter::inlineFunction(Node &node, const FunctionProto &function) {
  Scope inner;
  inner.depth = node.scope.depth + 1;
  inner.prefix = sourceName(node.scope, nodeName(node.proto)) + "/";
  inner.opsets = readOpsets(function.opset_import());
  if (function.input_size() < node.proto.input_size() ||
      function.output_size() < node.proto.output_size())
    throw ImportError("the call has more operands or results than the function");
  for (int i = 0; i < node.proto.input_size(); ++i)
    if (node.has(i))
      bind(inner, function.input(i), node.operand(i));
  for (const AttributeProto &attribute :
       functionDefaults[operatorName(function.domain(), function.name())])
    inner.attributes[attribute.name()] = &attribute;
  for (const AttributeProto &attribute : node.proto.attribute())
    if (const AttributeProto *given = resolve(node.scope, attribute))
      inner.attributes[attribute.name()] = given;
  SmallVector<StringRef> wanted;
  for (int i = 0; i < node.proto.output_size(); ++i)
    if (node.wants(i))
      wanted.push_back(function.output(i));
  walk(inner, function.node(), wanted);
  emit.setName(sourceName(node.scope, node.proto.output_size() ? node.proto.output(0) : ""));
  for (int i = 0; i < node.proto.output_size(); ++i)
    if (node.wants(i))
      node.result(i, lookup(inner, function.output(i)));
}

void GraphImporter::inlineBranch(Node &node, const onnx::GraphProto &branch) {
  Scope inner;
  inner.parent = &node.scope;
  inner.depth = node.scope.depth + 1;
  inner.prefix = node.scope.prefix;
  if (branch.output_size() < node.proto.output_size())
    throw ImportError("the branch has fewer results than the node");
  addInitializers(inner, branch);
  SmallVector<StringRef> wanted;
  for (int i = 0; i < node.proto.output_size(); ++i)
    wanted.push_back(branch.output(i).name());
  walk(inner, branch.node(), wanted);
  for (int i = 0; i < node.proto.output_size(); ++i)
    if (node.wants(i))
      node.result(i, lookup(inner, branch.output(i).name()));
}
