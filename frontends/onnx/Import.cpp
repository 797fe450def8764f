#include "frontends/onnx/Import.h"

#include "frontends/common/ModelImporter.h"
#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/ops/OpTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// The operator sets whose definitions are implemented.
static constexpr int64_t oldestOpset = 1, newestOpset = 28;

namespace {

/// The name of dimension `index` of an input where it has no size: as declared, or `input.index`.
std::string dimName(const onnx::ValueInfoProto &input, int index) {
  const auto &dim = input.type().tensor_type().shape().dim(index);
  return dim.dim_param().empty() ? input.name() + "." + std::to_string(index) : dim.dim_param();
}

bool hasSize(const onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value() && dim.dim_value() >= 0;
}

/// Inputs that a user gives: the others only name an initializer.
std::vector<const onnx::ValueInfoProto *> realInputs(const onnx::GraphProto &graph) {
  llvm::StringSet<> initialized;
  for (const auto &tensor : graph.initializer())
    initialized.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto *> inputs;
  for (const auto &input : graph.input())
    if (!initialized.contains(input.name()))
      inputs.push_back(&input);
  return inputs;
}

class OnnxImporter : ModelImporter {
public:
  OnnxImporter(MLIRContext &context, StringRef path, const OnnxImportOptions &options)
      : ModelImporter(context, path), options(options) {}

  OwningOpRef<ModuleOp> run();

private:
  void checkOpset(const onnx::ModelProto &model);
  std::optional<RankedTensorType> inputType(const onnx::ValueInfoProto &input);
  void addInput(EntryFunction &main, const onnx::ValueInfoProto &input, Scope &scope);
  void addOutputs(EntryFunction &main, const onnx::GraphProto &graph, GraphImporter &importer,
                  Scope &scope);
  void checkOutput(const onnx::ValueInfoProto &output, Value value);
  void build(ModuleOp module, const ModelFile &file);

  const OnnxImportOptions &options;
};

void OnnxImporter::checkOpset(const onnx::ModelProto &model) {
  llvm::StringMap<int64_t> opsets = GraphImporter::readOpsets(model.opset_import());
  auto version = opsets.find("");
  auto isOfDefault = [](const onnx::NodeProto &node) {
    return node.domain().empty() || node.domain() == "ai.onnx";
  };
  if (version == opsets.end()) {
    if (opsets.empty() || llvm::any_of(model.graph().node(), isOfDefault))
      problems.add("the model names no version of the operator set ai.onnx");
  } else if (version->second < oldestOpset || version->second > newestOpset)
    problems.add("operator set " + Twine(version->second) + " is not supported; versions " +
                 Twine(oldestOpset) + " to " + Twine(newestOpset) + " are");
}

/// None where a dimension is unbound, which is reported.
std::optional<RankedTensorType> OnnxImporter::inputType(const onnx::ValueInfoProto &input) {
  if (!input.type().has_tensor_type())
    throw ImportError("it is no tensor");
  const auto &type = input.type().tensor_type();
  Type element = elementType(&context, type.elem_type());
  if (!type.has_shape())
    throw ImportError("it has no shape");
  Shape shape;
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    std::string name = dimName(input, i);
    auto bound = options.dims.find(name);
    bool known = hasSize(type.shape().dim(i));
    if (!known && bound == options.dims.end())
      problems.addUnbound(name, input.name());
    else
      shape.push_back(known ? type.shape().dim(i).dim_value() : bound->second);
  }
  if (int(shape.size()) < type.shape().dim_size())
    return std::nullopt;
  return tensorType(shape, element);
}

void OnnxImporter::addInput(EntryFunction &main, const onnx::ValueInfoProto &input, Scope &scope) {
  Value &value = scope.values[input.name()];
  try {
    if (std::optional<RankedTensorType> type = inputType(input))
      value = main.addArgument(*type, input.name());
  } catch (const ImportError &error) {
    problems.add("input '" + input.name() + "': " + error.what());
  }
}

void OnnxImporter::checkOutput(const onnx::ValueInfoProto &output, Value value) {
  const auto &type = output.type().tensor_type();
  if (type.elem_type() != 0 && elementType(&context, type.elem_type()) != elementOf(value))
    throw ImportError("it is declared with another element type than it has: " + describe(value));
  if (!type.has_shape())
    return;
  bool agrees = type.shape().dim_size() == typeOf(value).getRank();
  for (int i = 0; agrees && i < type.shape().dim_size(); ++i)
    agrees = !hasSize(type.shape().dim(i)) || type.shape().dim(i).dim_value() == shapeOf(value)[i];
  if (!agrees)
    throw ImportError("it is declared with another shape than it has: " + describe(value));
}

void OnnxImporter::addOutputs(EntryFunction &main, const onnx::GraphProto &graph,
                              GraphImporter &importer, Scope &scope) {
  for (const auto &output : graph.output())
    try {
      Value value = importer.lookup(scope, output.name());
      checkOutput(output, value);
      main.addResult(value, output.name());
    } catch (const ImportError &error) {
      problems.add("output '" + output.name() + "': " + error.what());
    } catch (const FailedValue &) {
    }
  if (graph.output_size() == 0)
    problems.add("the graph has no outputs");
}

void OnnxImporter::build(ModuleOp module, const ModelFile &file) {
  const onnx::GraphProto &graph = file.model().graph();
  DataFiles data(path, options);
  TensorReader reader(&context, file, data, llvm::sys::path::filename(path));
  Scope scope;
  scope.opsets = GraphImporter::readOpsets(file.model().opset_import());
  checkOpset(file.model());
  EntryFunction main(module, path);
  for (const onnx::ValueInfoProto *input : realInputs(graph))
    addInput(main, *input, scope);
  Emitter emit(OpBuilder::atBlockEnd(main.body()));
  GraphImporter importer(file.model(), module, reader, emit, problems);
  importer.addInitializers(scope, graph);
  SmallVector<StringRef> wanted;
  for (const auto &output : graph.output())
    wanted.push_back(output.name());
  importer.walk(scope, graph.node(), wanted);
  addOutputs(main, graph, importer, scope);
  finish(module, main, emit);
}

OwningOpRef<ModuleOp> OnnxImporter::run() {
  return ModelImporter::run([&](ModuleOp module) { build(module, ModelFile(path)); });
}

} // namespace

OwningOpRef<ModuleOp> weft::importOnnx(MLIRContext &context, StringRef path,
                                       const OnnxImportOptions &options) {
  return OnnxImporter(context, path, options).run();
}

/// Calls `visit` for every dimension of the inputs that has no size.
static void visitOpenDims(StringRef path,
                          function_ref<void(const onnx::ValueInfoProto &input, int dim)> visit) {
  try {
    ModelFile file(path);
    for (const onnx::ValueInfoProto *input : realInputs(file.model().graph()))
      for (int i = 0; i < input->type().tensor_type().shape().dim_size(); ++i)
        if (!hasSize(input->type().tensor_type().shape().dim(i)))
          visit(*input, i);
  } catch (const std::exception &) {
    // Whoever imports the file says what is wrong with it.
  }
}

std::vector<std::string> weft::listOnnxDims(StringRef path) {
  std::vector<std::string> names;
  visitOpenDims(path, [&](const onnx::ValueInfoProto &input, int dim) {
    if (std::string name = dimName(input, dim); !llvm::is_contained(names, name))
      names.push_back(name);
  });
  return names;
}

std::vector<std::string>
weft::bindOnnxDims(StringRef path,
                   const std::function<std::vector<int64_t>(StringRef input)> &shapeOf) {
  std::map<std::string, int64_t> sizes;
  visitOpenDims(path, [&](const onnx::ValueInfoProto &input, int dim) {
    std::vector<int64_t> shape = shapeOf(input.name());
    if (dim < int(shape.size()))
      sizes.insert({dimName(input, dim), shape[dim]});
  });
  std::vector<std::string> bound;
  for (const auto &[name, size] : sizes)
    bound.push_back(name + "=" + std::to_string(size));
  return bound;
}

std::vector<std::string> weft::listOnnxOperators() { return sortedKeys(makeOpTable()); }
