//===- onnx_backend.cpp - the importer against ONNX's own test data -------===//
//
// onnx_backend LIST DIR…: each DIR holds tests as the ONNX backend suite does, NAME/model.onnx with
// NAME/test_data_set_N/{input,output}_M.pb. A model is imported and interpreted, and its results
// compared with the recorded ones.
//
// LIST says what is not covered and why (see Suite.h). Exit code 1 if anything fails.
//
// These models take everything as inputs, shapes too. Where the importer wants a constant, the
// small integer inputs are made initializers with the recorded values, and if that is not enough,
// all inputs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "frontends/onnx/Import.h"
#include "frontends/onnx/Tensors.h"
#include "frontends/onnx/ops/OpTable.h"
#include "mlir/IR/Diagnostics.h"
#include "test/conformance/Suite.h"
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace weft;
using namespace weft::conformance;

namespace {

/// What the ONNX backend runner allows; bfloat16 data was recorded by cutting bits off and in
/// steps that round, which are two units in the last place.
constexpr double relativeTolerance = 1e-3, absoluteTolerance = 1e-7, bfloat16Tolerance = 2.0 / 128;

enum class Binding { None, SmallIntegers, All };

Tolerance toleranceOf(const Tensor &value) {
  bool isBrain = value.type().getElementType().isBF16();
  return {isBrain ? bfloat16Tolerance : relativeTolerance, absoluteTolerance};
}

template <typename Message> Message readProto(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  Message message;
  if (!stream || !message.ParseFromIstream(&stream))
    throw Failure("the recorded data is no tensor");
  return message;
}

std::vector<onnx::TensorProto> readTensors(const fs::path &folder, const std::string &kind) {
  std::vector<onnx::TensorProto> tensors;
  for (int index = 0;; ++index) {
    fs::path path = folder / (kind + "_" + std::to_string(index) + ".pb");
    if (!fs::exists(path))
      return tensors;
    tensors.push_back(readProto<onnx::TensorProto>(path));
  }
}

bool isSmallInteger(const onnx::TensorProto &tensor) {
  return tensor.dims_size() <= 1 && (tensor.data_type() == onnx::TensorProto::INT64 ||
                                     tensor.data_type() == onnx::TensorProto::INT32 ||
                                     tensor.data_type() == onnx::TensorProto::BOOL);
}

/// One model with one set of data.
class Test {
public:
  Test(const fs::path &folder, const fs::path &data, const fs::path &scratch)
      : model(readProto<onnx::ModelProto>(folder / "model.onnx")),
        inputs(readTensors(data, "input")), outputs(readTensors(data, "output")), scratch(scratch) {
    correctTypes(model.graph().input(), inputs);
    correctTypes(model.graph().output(), outputs);
  }

  void run() {
    for (Binding binding : {Binding::None, Binding::SmallIntegers, Binding::All}) {
      std::string reason;
      mlir::MLIRContext context;
      auto module = import(context, binding, reason);
      if (module)
        return compare(*module, binding);
      bool wantsConstant = reason.find("must be a constant") != std::string::npos;
      if (!wantsConstant || binding == Binding::All)
        throw Failure(reason);
    }
  }

private:
  /// The data of bfloat16 values is recorded as if it were of uint16.
  static void correctTypes(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> &declared,
                           std::vector<onnx::TensorProto> &tensors) {
    for (int i = 0; i < declared.size() && i < int(tensors.size()); ++i)
      if (declared[i].type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16)
        tensors[i].set_data_type(onnx::TensorProto::BFLOAT16);
  }
  static bool isEmpty(const onnx::TensorProto &tensor) {
    return llvm::is_contained(tensor.dims(), 0);
  }
  bool isBound(const onnx::TensorProto &input, Binding binding) const {
    return binding == Binding::All || isEmpty(input) ||
           (binding == Binding::SmallIntegers && isSmallInteger(input));
  }

  mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, Binding binding,
                                           std::string &reason) {
    onnx::ModelProto bound = model;
    for (size_t i = 0; i < inputs.size() && int(i) < model.graph().input_size(); ++i)
      if (isBound(inputs[i], binding)) {
        onnx::TensorProto &tensor = *bound.mutable_graph()->add_initializer();
        tensor = inputs[i];
        tensor.set_name(model.graph().input(i).name());
      }
    // Models without a size for some dimension of an input run with the recorded one.
    OnnxImportOptions options;
    for (int i = 0; i < bound.graph().input_size() && i < int(inputs.size()); ++i) {
      auto &type = *bound.mutable_graph()->mutable_input(i)->mutable_type()->mutable_tensor_type();
      for (int d = 0; d < type.shape().dim_size() && d < inputs[i].dims_size(); ++d)
        type.mutable_shape()->mutable_dim(d)->set_dim_value(inputs[i].dims(d));
    }
    std::ofstream(scratch, std::ios::binary) << bound.SerializeAsString();
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      reason += (reason.empty() ? "" : "; ") + diagnostic.str();
      return mlir::success();
    });
    return importOnnx(context, scratch.string(), options);
  }

  void compare(mlir::ModuleOp module, Binding binding) {
    llvm::SmallVector<Tensor> values;
    for (const onnx::TensorProto &input : inputs)
      if (!isBound(input, binding))
        values.push_back(frontend::valueOf(module.getContext(), input));
    auto results = interpret(module, values);
    if (!results)
      throw Failure(llvm::toString(results.takeError()));
    if (results->size() > outputs.size())
      throw Failure("expected " + std::to_string(outputs.size()) + " results, got " +
                    std::to_string(results->size()));
    for (size_t i = 0; i < results->size(); ++i)
      expectEqual((*results)[i], frontend::valueOf(module.getContext(), outputs[i]), i,
                  toleranceOf((*results)[i]));
  }

  onnx::ModelProto model;
  std::vector<onnx::TensorProto> inputs, outputs;
  fs::path scratch;
};

/// Runs the tests of folders.
class Runner {
public:
  explicit Runner(Suite &suite) : suite(suite) {}
  ~Runner() { fs::remove(scratch); }
  void runAll(const fs::path &directory);

private:
  void runTest(const fs::path &folder);

  fs::path scratch =
      fs::temp_directory_path() / ("onnx_backend_" + std::to_string(getpid()) + ".onnx");
  Suite &suite;
};

void Runner::runTest(const fs::path &folder) {
  try {
    for (int set = 0;; ++set) {
      fs::path data = folder / ("test_data_set_" + std::to_string(set));
      if (!fs::exists(data))
        break;
      Test(folder, data, scratch).run();
    }
    std::vector<std::string> operators;
    auto model = readProto<onnx::ModelProto>(folder / "model.onnx");
    for (const onnx::NodeProto &node : model.graph().node())
      operators.push_back(node.domain().empty() ? node.op_type()
                                                : node.domain() + "::" + node.op_type());
    suite.pass(operators);
  } catch (const std::exception &reason) {
    suite.miss(folder.filename().string(), reason.what());
  }
}

void Runner::runAll(const fs::path &directory) {
  std::vector<fs::path> folders;
  for (const auto &entry : fs::directory_iterator(directory))
    if (fs::exists(entry.path() / "model.onnx"))
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path &folder : folders)
    runTest(folder);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return std::fprintf(stderr, "usage: onnx_backend LIST DIR…\n"), 2;
  try {
    Suite suite(argv[1]);
    Runner runner(suite);
    for (int i = 2; i < argc; ++i)
      runner.runAll(argv[i]);
    frontend::OpTable table = frontend::makeOpTable();
    std::set<std::string> operators;
    for (llvm::StringRef name : table.keys())
      operators.insert(name.str());
    suite.checkOperators(operators);
    return suite.report();
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "onnx_backend: %s\n", error.what()), 1;
  }
}
