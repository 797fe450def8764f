// Graphs, nodes and arguments from JSON.

#include "frontends/common/ImportError.h"
#include "frontends/torch_export/Program.h"

using namespace weft::frontend;
using namespace weft::frontend::aten;
using llvm::StringRef;

/// Graphs inside each other; enough for any exporter, little enough for the stack.
static constexpr int maxGraphDepth = 64;

//===----------------------------------------------------------------------===//
// Numbers and tensors
//===----------------------------------------------------------------------===//

static SymInt readSymInt(const Json &json) {
  auto [member, value] = json.member();
  if (member == "as_int")
    return value.integer();
  if (member == "as_expr")
    return value["expr_str"].string();
  json.fail("expected as_int or as_expr, got " + member);
}

TensorMeta weft::frontend::aten::readTensorMeta(const Json &json) {
  TensorMeta meta;
  meta.dtype = ScalarType(json["dtype"].integer());
  meta.sizes = json["sizes"].map(readSymInt);
  meta.strides = json["strides"].map(readSymInt);
  meta.storageOffset = readSymInt(json["storage_offset"]);
  meta.layout = json["layout"].integer();
  meta.requiresGrad = json.boolean("requires_grad", true);
  if (meta.sizes.size() != meta.strides.size())
    json.fail("expected as many strides as sizes, got " + std::to_string(meta.strides.size()) +
              " and " + std::to_string(meta.sizes.size()));
  return meta;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static TensorName readTensorName(const Json &json) { return {json["name"].string()}; }

static std::optional<TensorName> readOptionalTensor(const Json &json) {
  auto [member, value] = json.member();
  if (member == "as_tensor")
    return readTensorName(value);
  if (member == "as_none")
    return std::nullopt;
  json.fail("expected as_tensor or as_none, got " + member);
}

/// SymIntArgument, SymFloatArgument or SymBoolArgument.
static Scalar readSymbolic(const Json &json) {
  auto [member, value] = json.member();
  if (member == "as_name")
    return SymbolName{value.string()};
  if (member == "as_int")
    return value.integer();
  if (member == "as_float")
    return value.number();
  if (member == "as_bool")
    return value.boolean();
  json.fail("expected as_name or a value, got " + member);
}

static Scalar readInt(const Json &json) { return json.integer(); }
static Scalar readFloat(const Json &json) { return json.number(); }
static Scalar readBool(const Json &json) { return json.boolean(); }
static std::string readString(const Json &json) { return json.string(); }

using Held = decltype(Argument::value);
template <auto read> static Held one(const Json &json) { return read(json); }
template <auto read> static Held many(const Json &json) { return json.map(read); }

static Held readMaybeTensor(const Json &json) {
  std::optional<TensorName> tensor = readOptionalTensor(json);
  return tensor ? Held(*tensor) : Held(None());
}

static Held readTensors(const Json &json) {
  return json.map(
      [](const Json &element) { return std::optional<TensorName>(readTensorName(element)); });
}

template <typename Code> static Held readCode(const Json &json) { return Code{json.integer()}; }

/// The members of the union Argument that hold no arguments themselves.
static const llvm::StringMap<Held (*)(const Json &)> &argumentReaders() {
  static const llvm::StringMap<Held (*)(const Json &)> readers = {
      {"as_bool", one<readBool>},
      {"as_bools", many<readBool>},
      {"as_float", one<readFloat>},
      {"as_floats", many<readFloat>},
      {"as_int", one<readInt>},
      {"as_ints", many<readInt>},
      {"as_layout", readCode<LayoutCode>},
      {"as_memory_format", readCode<MemoryFormatCode>},
      {"as_none", [](const Json &) -> Held { return None(); }},
      {"as_operator", one<readString>},
      {"as_optional_tensor", readMaybeTensor},
      {"as_optional_tensors", many<readOptionalTensor>},
      {"as_scalar_type", [](const Json &json) -> Held { return ScalarType(json.integer()); }},
      {"as_string", one<readString>},
      {"as_strings", many<readString>},
      {"as_sym_bool", one<readSymbolic>},
      {"as_sym_bools", many<readSymbolic>},
      {"as_sym_float", one<readSymbolic>},
      {"as_sym_floats", many<readSymbolic>},
      {"as_sym_int", one<readSymbolic>},
      {"as_sym_ints", many<readSymbolic>},
      {"as_tensor", one<readTensorName>},
      {"as_tensors", readTensors},
  };
  return readers;
}

Argument weft::frontend::aten::readArgument(const Json &json, int depth) {
  auto [member, value] = json.member();
  Argument argument;
  argument.member = member;
  if (auto reader = argumentReaders().find(member); reader != argumentReaders().end())
    argument.value = reader->second(value);
  else if (member == "as_graph")
    argument.value =
        GraphArgument{value["name"].string(),
                      std::make_shared<const Graph>(readGraph(value["graph"], depth + 1))};
  else
    argument.value = Other{member};
  return argument;
}

//===----------------------------------------------------------------------===//
// Nodes and graphs
//===----------------------------------------------------------------------===//

/// The path of the innermost module of `key,path,class;key,path,class…`, outermost first. Nodes
/// that passes made have a placeholder instead.
static std::string readModulePath(const Json &metadata) {
  std::string stack = metadata.string("nn_module_stack", "");
  StringRef innermost = StringRef(stack).rsplit(';').second;
  if (innermost.empty())
    innermost = stack;
  StringRef path = innermost.split(',').second.split(',').first;
  return path.starts_with("_empty_nn_module_stack") ? "" : path.str();
}

/// The name of the first tensor or number among the outputs.
static std::string firstResult(const std::vector<Argument> &outputs) {
  for (const Argument &output : outputs) {
    if (auto *tensor = output.as<TensorName>())
      return tensor->name;
    if (auto *tensors = output.as<std::vector<std::optional<TensorName>>>())
      for (const std::optional<TensorName> &tensor : *tensors)
        if (tensor)
          return tensor->name;
    if (auto *scalar = output.as<Scalar>())
      if (auto *symbol = std::get_if<SymbolName>(scalar))
        return symbol->name;
  }
  return "";
}

static GraphNode readNode(const Json &json, int depth) {
  GraphNode node;
  node.target = json["target"].string();
  node.inputs = json["inputs"].map([&](const Json &input) {
    return NamedArgument{input["name"].string(), readArgument(input["arg"], depth)};
  });
  node.outputs =
      json["outputs"].map([&](const Json &output) { return readArgument(output, depth); });
  node.name = json.string("name", firstResult(node.outputs));
  if (std::optional<Json> metadata = json.get("metadata"))
    node.modulePath = readModulePath(*metadata);
  return node;
}

Graph weft::frontend::aten::readGraph(const Json &json, int depth) {
  if (depth > maxGraphDepth)
    json.fail("graphs are nested too deeply");
  auto argument = [&](const Json &element) { return readArgument(element, depth); };
  Graph graph;
  graph.inputs = json["inputs"].map(argument);
  graph.outputs = json["outputs"].map(argument);
  graph.nodes = json["nodes"].map([&](const Json &node) { return readNode(node, depth); });
  json["tensor_values"].forEachField([&](const std::string &name, const Json &value) {
    graph.tensors.try_emplace(name, readTensorMeta(value));
  });
  json["sym_int_values"].forEachField([&](const std::string &name, const Json &value) {
    graph.symInts.try_emplace(name, readSymInt(value));
  });
  return graph;
}
