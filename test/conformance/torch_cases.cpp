//===- torch_cases.cpp - the importer against operators run by torch ------===//
//
// torch_cases LIST DIR: each folder NAME of DIR holds default.pt2 and maybe decomposed.pt2 with
// their input_K.npy and output_K.npy (torch/make_cases.py). A program is imported and interpreted,
// before and after raising to semantic operations, and its results are compared with torch's.
//
// LIST says what is not covered and why (see Suite.h). Operators without a passing test are misses
// too: those of the importer, and those of torch's core set, which DIR/core.txt lists. Exit code 1
// if anything fails.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"
#include "frontends/torch_export/Archive.h"
#include "frontends/torch_export/Import.h"
#include "frontends/torch_export/Json.h"
#include "frontends/torch_export/Node.h"
#include "frontends/torch_export/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"
#include "runtime/Io/Npy.h"
#include "test/conformance/Suite.h"
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace weft;
using namespace weft::conformance;

namespace {

mlir::Type elementType(mlir::Builder builder, runtime::DType dtype) {
  switch (dtype) {
  case program::I1:
    return builder.getI1Type();
  case program::U8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case program::I8:
  case program::I16:
  case program::I32:
  case program::I64:
    return builder.getIntegerType(8 * runtime::getElementSize(dtype));
  case program::F16:
    return builder.getF16Type();
  case program::F64:
    return builder.getF64Type();
  default:
    return builder.getF32Type();
  }
}

/// The array of a file; where `wanted` is bf16, the file's f32 rounded to it.
Tensor readTensor(const fs::path &path, mlir::RankedTensorType wanted) {
  runtime::NpyArray array = runtime::readNpy(path.string());
  mlir::Builder builder(wanted.getContext());
  auto type = mlir::RankedTensorType::get(array.shape, elementType(builder, array.dtype));
  auto bytes = reinterpret_cast<const char *>(array.data.data());
  auto tensor = Tensor::fromBytes(type, llvm::ArrayRef(bytes, array.data.size()));
  if (!tensor)
    throw Failure(path.filename().string() + ": " + llvm::toString(tensor.takeError()));
  if (!wanted.getElementType().isBF16())
    return *tensor;
  return tensorOf(type.clone(wanted.getElementType()), numbersOf<double>(*tensor));
}

/// Outputs were recorded with 16 bits of their mantissa; ATen computes in f32, but for weights of
/// attention, which it rounds to bf16: small sums of larger terms are off by that.
Tolerance toleranceOf(const Tensor &value) {
  mlir::Type element = value.type().getElementType();
  if (element.isBF16())
    return {1.6e-2, 5e-4};
  return element.isF16() ? Tolerance{2e-3, 1e-4} : Tolerance{2e-5, 1e-5};
}

void compare(mlir::ModuleOp module, const fs::path &folder) {
  auto main = *module.getOps<mlir::func::FuncOp>().begin();
  llvm::SmallVector<Tensor> inputs;
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
    inputs.push_back(readTensor(folder / ("input_" + std::to_string(index) + ".npy"),
                                mlir::cast<mlir::RankedTensorType>(type)));
  auto results = interpret(module, inputs);
  if (!results)
    throw Failure(llvm::toString(results.takeError()));
  for (auto [index, result] : llvm::enumerate(*results))
    expectEqual(result,
                readTensor(folder / ("output_" + std::to_string(index) + ".npy"), result.type()),
                index, toleranceOf(result));
}

void runProgram(const fs::path &path) {
  mlir::MLIRContext context;
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  auto module = importTorch(context, path.string(), {});
  if (!module)
    throw Failure(reason);
  compare(*module, path.parent_path());
  mlir::PassManager manager(&context);
  buildImportPipeline(manager);
  if (failed(manager.run(*module)))
    throw Failure("the import pipeline failed: " + reason);
  try {
    compare(*module, path.parent_path());
  } catch (const Failure &failure) {
    throw Failure(std::string("once raised, ") + failure.what());
  }
}

/// The operators of a program that can be read.
std::vector<std::string> operatorsOf(const fs::path &path) {
  namespace aten = frontend::aten;
  constexpr uint64_t most = 1 << 24;
  aten::Archive archive(path.string());
  nlohmann::json document =
      aten::parseJson(archive.read("models/model.json", most), "models/model.json");
  std::vector<std::string> names;
  for (const aten::GraphNode &node :
       aten::readProgram(aten::Json(document, "models/model.json")).graph.nodes)
    names.push_back(aten::operatorName(node));
  return names;
}

void runCase(Suite &suite, const fs::path &folder) {
  for (const char *form : {"default", "decomposed"}) {
    fs::path path = folder / (std::string(form) + ".pt2");
    if (!fs::exists(path))
      continue;
    try {
      runProgram(path);
      suite.pass(operatorsOf(path));
    } catch (const std::exception &reason) {
      suite.miss(folder.filename().string() + " (" + form + ")", reason.what());
    }
  }
}

void runAll(Suite &suite, const fs::path &directory) {
  std::vector<fs::path> folders;
  for (const auto &entry : fs::directory_iterator(directory))
    if (entry.is_directory())
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path &folder : folders)
    runCase(suite, folder);
}

std::set<std::string> knownOperators(const fs::path &directory) {
  std::vector<std::string> own = listTorchOperators();
  std::set<std::string> operators(own.begin(), own.end());
  std::ifstream core(directory / "core.txt");
  for (std::string name; std::getline(core, name);)
    operators.insert(name);
  return operators;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return std::fprintf(stderr, "usage: torch_cases LIST DIR\n"), 2;
  try {
    Suite suite(argv[1]);
    runAll(suite, argv[2]);
    suite.checkOperators(knownOperators(argv[2]));
    return suite.report();
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "torch_cases: %s\n", error.what()), 1;
  }
}
