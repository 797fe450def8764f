// The program around the graph: versions, signature, ranges, names, payloads.

#include "frontends/common/ImportError.h"
#include "frontends/torch_export/Program.h"

using namespace weft::frontend;
using namespace weft::frontend::aten;

/// The major version of the schema whose meaning is known; minor versions only add to it.
static constexpr int64_t knownSchema = 8;

static void checkVersion(const Json &document) {
  Json version = document["schema_version"];
  int64_t major = version["major"].integer(), minor = version["minor"].integer();
  if (major == knownSchema)
    return;
  std::string torch = document.string("torch_version", "");
  throw ImportError("schema version " + std::to_string(major) + "." + std::to_string(minor) +
                    (torch.empty() ? "" : " (torch " + torch + ")") +
                    " is not supported; versions " + std::to_string(knownSchema) + ".x are");
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static Argument tensorArgument(const Json &json) {
  Argument argument;
  argument.member = "as_tensor";
  argument.value = TensorName{json["name"].string()};
  return argument;
}

static InputSpec readInput(const Json &json) {
  auto [member, value] = json.member();
  if (member == "user_input")
    return {InputSpec::User, readArgument(value["arg"]), ""};
  if (member == "parameter")
    return {InputSpec::Parameter, tensorArgument(value["arg"]), value["parameter_name"].string()};
  if (member == "buffer")
    return {InputSpec::Buffer, tensorArgument(value["arg"]), value["buffer_name"].string()};
  if (member == "tensor_constant")
    return {InputSpec::TensorConstant, tensorArgument(value["arg"]),
            value["tensor_constant_name"].string()};
  if (member == "custom_obj")
    return {InputSpec::CustomObject, {}, value["custom_obj_name"].string()};
  if (member == "token")
    return {InputSpec::Token, {}, value["arg"]["name"].string()};
  if (member == "constant_input")
    return {InputSpec::Constant, {}, value["name"].string()};
  json.fail("an input of kind '" + member + "' is not known");
}

static OutputSpec readOutput(const Json &json) {
  auto [member, value] = json.member();
  if (member == "user_output")
    return {OutputSpec::User, readArgument(value["arg"]), ""};
  if (member == "loss_output")
    return {OutputSpec::Loss, tensorArgument(value["arg"]), ""};
  if (member == "buffer_mutation")
    return {OutputSpec::BufferMutation, tensorArgument(value["arg"]),
            value["buffer_name"].string()};
  if (member == "parameter_mutation")
    return {OutputSpec::ParameterMutation, tensorArgument(value["arg"]),
            value["parameter_name"].string()};
  if (member == "user_input_mutation")
    return {OutputSpec::UserInputMutation, tensorArgument(value["arg"]),
            value["user_input_name"].string()};
  if (member == "gradient_to_parameter")
    return {OutputSpec::Gradient, tensorArgument(value["arg"]), value["parameter_name"].string()};
  if (member == "gradient_to_user_input")
    return {OutputSpec::Gradient, tensorArgument(value["arg"]), value["user_input_name"].string()};
  if (member == "token")
    return {OutputSpec::Token, {}, value["arg"]["name"].string()};
  json.fail("an output of kind '" + member + "' is not known");
}

static std::map<std::string, Range> readRanges(const Json &json) {
  auto bound = [](const Json &range, const char *name) -> std::optional<int64_t> {
    std::optional<Json> field = range.get(name);
    return field ? std::optional(field->integer()) : std::nullopt;
  };
  std::map<std::string, Range> ranges;
  json.forEachField([&](const std::string &symbol, const Json &range) {
    ranges[symbol] = {bound(range, "min_val"), bound(range, "max_val")};
  });
  return ranges;
}

//===----------------------------------------------------------------------===//
// Names of inputs
//===----------------------------------------------------------------------===//

static bool isLeaf(const Json &spec) { return spec["type"].isNull(); }

static size_t countLeaves(const Json &spec, int depth = 0) {
  constexpr int maxDepth = 64;
  if (depth > maxDepth)
    spec.fail("containers are nested too deeply");
  if (isLeaf(spec))
    return 1;
  size_t count = 0;
  spec["children_spec"].forEach([&](const Json &child) { count += countLeaves(child, depth + 1); });
  return count;
}

/// Gives each leaf below an argument a name: its own where it is a tensor, none within containers.
static void nameLeaves(const Json &argument, const std::string &name,
                       std::vector<std::string> &names) {
  if (isLeaf(argument))
    names.push_back(name);
  else
    names.resize(names.size() + countLeaves(argument));
}

/// Names from the tree of arguments ((positional…), {keyword…}) and the names of forward's
/// parameters.
static std::vector<std::string> readNames(const Json &signature) {
  nlohmann::json tree = parseJson(signature["in_spec"].string(), "in_spec");
  if (!tree.is_array() || tree.size() != 2)
    return {};
  std::vector<std::string> forward, names;
  if (std::optional<Json> given = signature.get("forward_arg_names"))
    forward = given->map([](const Json &name) { return name.string(); });
  Json root(tree[1], "in_spec");
  size_t part = 0;
  root["children_spec"].forEach([&](const Json &arguments) {
    std::vector<std::string> own = forward;
    if (part++ == 1) {
      nlohmann::json keys = parseJson(arguments["context"].string(), "in_spec");
      own = Json(keys, "in_spec").map([](const Json &key) { return key.string(); });
    }
    size_t index = 0;
    arguments["children_spec"].forEach([&](const Json &argument) {
      nameLeaves(argument, index < own.size() ? own[index] : "", names);
      ++index;
    });
  });
  return names;
}

/// Names are a convenience: where the tree is of another form than is known here, there are none.
static std::vector<std::string> readInputNames(const Json &calls) {
  std::vector<std::string> names;
  calls.forEach([&](const Json &call) {
    std::optional<Json> signature = call.get("signature");
    if (signature && call["fqn"].string().empty())
      try {
        names = readNames(*signature);
      } catch (const ImportError &) {
        names.clear();
      }
  });
  return names;
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

Program weft::frontend::aten::readProgram(const Json &document) {
  checkVersion(document);
  Json module = document["graph_module"];
  Json signature = module["signature"];
  Program program;
  program.graph = readGraph(module["graph"]);
  program.inputs = signature["input_specs"].map(readInput);
  program.outputs = signature["output_specs"].map(readOutput);
  if (std::optional<Json> ranges = document.get("range_constraints"))
    program.ranges = readRanges(*ranges);
  if (std::optional<Json> calls = module.get("module_call_graph"))
    program.inputNames = readInputNames(*calls);
  return program;
}

llvm::StringMap<PayloadMeta> weft::frontend::aten::readPayloads(const Json &document) {
  llvm::StringMap<PayloadMeta> payloads;
  document["config"].forEachField([&](const std::string &name, const Json &value) {
    payloads.try_emplace(name,
                         PayloadMeta{value["path_name"].string(), value["use_pickle"].boolean(),
                                     readTensorMeta(value["tensor_meta"])});
  });
  return payloads;
}
