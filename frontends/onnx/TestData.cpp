#include "frontends/onnx/TestData.h"

#include "frontends/common/ImportError.h"
#include "frontends/onnx/Proto.h"
#include "frontends/onnx/Tensors.h"
#include "llvm/ADT/STLExtras.h"

#include <filesystem>
#include <fstream>

using namespace weft;
using namespace weft::frontend;
namespace fs = std::filesystem;
using Values = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

template <typename Message> static Message readProto(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  Message message;
  if (!stream || !message.ParseFromIstream(&stream))
    throw ImportError("expected " + Message::descriptor()->full_name() + " in '" + path.string() +
                      "'");
  return message;
}

static std::vector<onnx::TensorProto> readTensors(const fs::path &folder, const std::string &kind) {
  std::vector<onnx::TensorProto> tensors;
  for (int number = 0;; ++number) {
    fs::path path = folder / (kind + "_" + std::to_string(number) + ".pb");
    if (!fs::exists(path))
      return tensors;
    tensors.push_back(readProto<onnx::TensorProto>(path));
  }
}

/// The data of bfloat16 values is recorded as if it were of uint16.
static void correctTypes(const Values &declared, std::vector<onnx::TensorProto> &tensors) {
  for (auto [value, tensor] : llvm::zip_first(tensors, declared))
    if (tensor.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16)
      value.set_data_type(onnx::TensorProto::BFLOAT16);
}

static bool isSmallInteger(const onnx::TensorProto &tensor) {
  return tensor.dims_size() <= 1 && (tensor.data_type() == onnx::TensorProto::INT64 ||
                                     tensor.data_type() == onnx::TensorProto::INT32 ||
                                     tensor.data_type() == onnx::TensorProto::BOOL);
}

static bool isBound(const onnx::TensorProto &input, Binding binding) {
  return binding == Binding::All || llvm::is_contained(input.dims(), 0) ||
         (binding == Binding::SmallIntegers && isSmallInteger(input));
}

bool frontend::wantsBinding(const std::string &message) {
  return message.find("must be a constant") != std::string::npos;
}

struct TestData::Protos {
  Protos(const std::string &model, const std::string &dataSet)
      : model(readProto<onnx::ModelProto>(model)), inputs(readTensors(dataSet, "input")),
        outputs(readTensors(dataSet, "output")) {
    correctTypes(this->model.graph().input(), inputs);
    correctTypes(this->model.graph().output(), outputs);
  }

  onnx::ModelProto model;
  std::vector<onnx::TensorProto> inputs, outputs;
};

TestData::TestData(const std::string &model, const std::string &dataSet)
    : protos(std::make_shared<Protos>(model, dataSet)) {}

std::string TestData::bind(Binding binding) const {
  onnx::ModelProto bound = protos->model;
  onnx::GraphProto &graph = *bound.mutable_graph();
  for (auto [input, tensor] : llvm::zip(*graph.mutable_input(), protos->inputs)) {
    auto &shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int d = 0; d < std::min(shape.dim_size(), tensor.dims_size()); ++d)
      shape.mutable_dim(d)->set_dim_value(tensor.dims(d));
    if (!isBound(tensor, binding))
      continue;
    *graph.add_initializer() = tensor;
    graph.mutable_initializer()->rbegin()->set_name(input.name());
  }
  return bound.SerializeAsString();
}

/// Sequences and the like are left out: whoever imports the model says what is wrong with them.
static std::vector<TestData::NamedTensor>
nameTensors(mlir::MLIRContext *context, const Values &declared,
            const std::vector<onnx::TensorProto> &tensors,
            llvm::function_ref<bool(const onnx::TensorProto &)> isWanted) {
  std::vector<TestData::NamedTensor> named;
  for (auto [value, tensor] : llvm::zip(declared, tensors))
    if (value.type().has_tensor_type() && isWanted(tensor))
      named.push_back({value.name(), valueOf(context, tensor)});
  return named;
}

std::vector<TestData::NamedTensor> TestData::getInputs(mlir::MLIRContext *context,
                                                       Binding binding) const {
  return nameTensors(context, protos->model.graph().input(), protos->inputs,
                     [&](const onnx::TensorProto &input) { return !isBound(input, binding); });
}

std::vector<TestData::NamedTensor> TestData::getOutputs(mlir::MLIRContext *context) const {
  return nameTensors(context, protos->model.graph().output(), protos->outputs,
                     [](const onnx::TensorProto &) { return true; });
}

std::vector<std::string> TestData::listOperators() const {
  std::vector<std::string> names;
  for (const onnx::NodeProto &node : protos->model.graph().node())
    names.push_back(node.domain().empty() ? node.op_type() : node.domain() + "::" + node.op_type());
  return names;
}
