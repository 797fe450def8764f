//===- onnx_backend.cpp - the importer against ONNX's own test data -------===//
//
// onnx_backend LIST DIR…: each DIR holds tests as the ONNX backend suite does, NAME/model.onnx with
// NAME/test_data_set_N/{input,output}_M.pb. A model is imported and interpreted, and its results
// compared with the recorded ones.
//
// LIST says what is not covered and why (see Suite.h). Exit code 1 if anything fails.
//
// Where the importer wants a constant, inputs are bound (see TestData.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "frontends/onnx/Import.h"
#include "frontends/onnx/TestData.h"
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
using frontend::Binding;
using frontend::TestData;

namespace {

/// What the ONNX backend runner allows; bfloat16 data was recorded by cutting bits off and in
/// steps that round, which are two units in the last place.
constexpr double relativeTolerance = 1e-3, absoluteTolerance = 1e-7, bfloat16Tolerance = 2.0 / 128;

Tolerance toleranceOf(const Tensor &value) {
  bool isBrain = value.type().getElementType().isBF16();
  return {isBrain ? bfloat16Tolerance : relativeTolerance, absoluteTolerance};
}

/// Null where the model is refused, for `reason`.
mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, const TestData &test,
                                         Binding binding, const fs::path &scratch,
                                         std::string &reason) {
  std::ofstream(scratch, std::ios::binary) << test.bind(binding);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  return importOnnx(context, scratch.string(), {});
}

void compare(mlir::ModuleOp module, const TestData &test, Binding binding) {
  llvm::SmallVector<Tensor> values;
  for (auto &[name, value] : test.getInputs(module.getContext(), binding))
    values.push_back(value);
  auto results = interpret(module, values);
  if (!results)
    throw Failure(llvm::toString(results.takeError()));
  auto outputs = test.getOutputs(module.getContext());
  if (results->size() > outputs.size())
    throw Failure("expected " + std::to_string(outputs.size()) + " results, got " +
                  std::to_string(results->size()));
  for (size_t i = 0; i < results->size(); ++i)
    expectEqual((*results)[i], outputs[i].second, i, toleranceOf((*results)[i]));
}

void run(const TestData &test, const fs::path &scratch) {
  for (Binding binding : frontend::bindings) {
    std::string reason;
    mlir::MLIRContext context;
    auto module = import(context, test, binding, scratch, reason);
    if (module)
      return compare(*module, test, binding);
    if (!frontend::wantsBinding(reason) || binding == Binding::All)
      throw Failure(reason);
  }
}

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
    std::vector<std::string> operators;
    for (int set = 0;; ++set) {
      fs::path data = folder / ("test_data_set_" + std::to_string(set));
      if (!fs::exists(data))
        break;
      TestData test(folder / "model.onnx", data);
      run(test, scratch);
      operators = test.listOperators();
    }
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
