#include "frontends/torch_export/Changes.h"

#include "frontends/torch_export/Aliases.h"
#include "frontends/torch_export/Node.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft::frontend::aten;
using llvm::StringRef;

static const Argument *findArgument(const GraphNode &node, StringRef name) {
  auto found =
      llvm::find_if(node.inputs, [&](const NamedArgument &input) { return input.name == name; });
  return found == node.inputs.end() ? nullptr : &found->argument;
}

static bool isSet(const GraphNode &node, StringRef name, bool otherwise) {
  const Argument *argument = findArgument(node, name);
  auto *scalar = argument ? argument->as<Scalar>() : nullptr;
  auto *flag = scalar ? std::get_if<bool>(scalar) : nullptr;
  return flag ? *flag : otherwise;
}

llvm::SmallVector<StringRef, 2> weft::frontend::aten::changedArguments(const GraphNode &node) {
  std::string target = operatorName(node);
  if (!functionalTarget(target).empty())
    return {"self"};
  StringRef name = StringRef(target).split('.').second.split('.').first;
  bool isBatchNorm =
      llvm::is_contained({"_native_batch_norm_legit", "batch_norm", "native_batch_norm"}, name);
  if ((isBatchNorm && isSet(node, "training", false)) ||
      (name == "instance_norm" && isSet(node, "use_input_stats", true)))
    return {"running_mean", "running_var"};
  return {};
}

namespace {
/// Follows the names of one graph to the inputs whose elements they share.
class Tracer {
public:
  explicit Tracer(const Graph &graph) {
    for (const Argument &input : graph.inputs)
      if (auto *tensor = input.as<TensorName>())
        roots[tensor->name] = tensor->name;
    for (const GraphNode &node : graph.nodes)
      visit(node);
  }

  llvm::StringSet<> changed; ///< inputs of the graph

private:
  void change(const Argument *argument) {
    auto *tensor = argument ? argument->as<TensorName>() : nullptr;
    if (!tensor)
      return;
    if (auto root = roots.find(tensor->name); root != roots.end())
      changed.insert(root->second);
  }

  void visit(const GraphNode &node) {
    llvm::SmallVector<StringRef, 2> names = changedArguments(node);
    for (StringRef name : names)
      change(findArgument(node, name));
    const Argument *self = findArgument(node, "self");
    auto *base = self ? self->as<TensorName>() : nullptr;
    if (base && (llvm::is_contained(names, "self") || makesViews(operatorName(node))))
      if (auto root = roots.find(base->name); root != roots.end())
        for (const std::string &result : resultNames(node))
          roots[result] = root->second;
    visitGraphs(node);
  }

  /// Operators of higher order give graphs what follows these among their arguments.
  void visitGraphs(const GraphNode &node) {
    std::vector<Argument> operands;
    std::vector<const Graph *> graphs;
    for (const NamedArgument &input : node.inputs) {
      if (auto *held = input.argument.as<GraphArgument>()) {
        graphs.push_back(held->graph.get());
        operands.clear();
      } else if (auto *list = input.argument.as<std::vector<std::optional<TensorName>>>()) {
        for (const std::optional<TensorName> &tensor : *list)
          operands.push_back(tensor ? Argument{"as_tensor", *tensor} : Argument());
      } else {
        operands.push_back(input.argument);
      }
    }
    for (const Graph *graph : graphs) {
      Tracer inner(*graph);
      for (auto [input, operand] : llvm::zip(graph->inputs, operands))
        if (auto *tensor = input.as<TensorName>(); tensor && inner.changed.contains(tensor->name))
          change(&operand);
    }
  }

  llvm::StringMap<std::string> roots; ///< by name: the input whose elements it shares
};
} // namespace

llvm::StringSet<> weft::frontend::aten::findChangedInputs(const Program &program) {
  llvm::StringSet<> changed = std::move(Tracer(program.graph).changed);
  llvm::StringMap<std::string> byTarget;
  for (const InputSpec &spec : program.inputs)
    if (auto *tensor = spec.argument.as<TensorName>())
      byTarget[spec.kind == InputSpec::User ? tensor->name : spec.target] = tensor->name;
  for (const OutputSpec &spec : program.outputs)
    if (spec.kind == OutputSpec::BufferMutation || spec.kind == OutputSpec::ParameterMutation ||
        spec.kind == OutputSpec::UserInputMutation)
      if (auto name = byTarget.find(spec.target); name != byTarget.end())
        changed.insert(name->second);
  return changed;
}
