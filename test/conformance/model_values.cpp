//===- model_values.cpp - an imported model against recorded outputs ------===//
//
// model_values MODEL FOLDER [NAME=N…]: imports MODEL with these dimensions, interprets it on
// FOLDER/inputs/*.npy and compares with FOLDER/outputs/*.npy, before and after raising to semantic
// operations. Prints the largest difference over the largest magnitude of each output; exit code 1
// where it exceeds 1e-4.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"
#include "frontends/onnx/Import.h"
#include "frontends/torch_export/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"
#include "runtime/Io/Npy.h"
#include <cmath>
#include <cstdio>

using namespace weft;

static constexpr double tolerance = 1e-4;

static Tensor read(const std::string &folder, llvm::StringRef name, mlir::Type type) {
  runtime::NpyArray array = runtime::readNpy(folder + "/" + runtime::getNpyFileName(name.str()));
  auto bytes = reinterpret_cast<const char *>(array.data.data());
  auto tensor = Tensor::fromBytes(mlir::cast<mlir::RankedTensorType>(type),
                                  llvm::ArrayRef(bytes, array.data.size()));
  if (!tensor)
    throw std::runtime_error(name.str() + ": " + llvm::toString(tensor.takeError()));
  return *tensor;
}

/// The largest difference over the largest magnitude; infinite where a value is no number.
static double difference(const Tensor &got, const Tensor &expected) {
  std::vector<double> left = numbersOf<double>(got), right = numbersOf<double>(expected);
  double largest = 0, scale = 1e-30;
  for (size_t i = 0; i < left.size(); ++i) {
    double distance = std::abs(left[i] - right[i]);
    largest = std::isnan(distance) ? INFINITY : std::max(largest, distance);
    scale = std::max(scale, std::abs(right[i]));
  }
  return largest / scale;
}

/// Interprets the module and compares; true where all outputs are equal.
static bool compare(mlir::ModuleOp module, const std::string &folder, const char *stage) {
  auto main = *module.getOps<mlir::func::FuncOp>().begin();
  llvm::SmallVector<Tensor> inputs;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    inputs.push_back(read(folder + "/inputs",
                          main.getArgAttrOfType<mlir::StringAttr>(i, "weft.name").getValue(),
                          main.getArgumentTypes()[i]));
  auto results = interpret(module, inputs);
  if (!results)
    throw std::runtime_error(llvm::toString(results.takeError()));
  bool equal = true;
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    llvm::StringRef name = main.getResultAttrOfType<mlir::StringAttr>(i, "weft.name").getValue();
    double found =
        difference((*results)[i], read(folder + "/outputs", name, main.getResultTypes()[i]));
    std::printf("%s %s: %s %.1e\n", stage, name.str().c_str(),
                found <= tolerance ? "equal" : "DIFFERENT", found);
    equal &= found <= tolerance;
  }
  return equal;
}

using Dims = llvm::MapVector<llvm::StringRef, int64_t>;

static mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context,
                                                     const std::string &model, const Dims &dims) {
  if (llvm::StringRef(model).ends_with(".pt2")) {
    TorchImportOptions options;
    options.dims = dims;
    return importTorch(context, model, options);
  }
  OnnxImportOptions options;
  options.dims = dims;
  return importOnnx(context, model, options);
}

static int run(const std::string &model, const std::string &folder, const Dims &dims) {
  mlir::MLIRContext context;
  auto module = importModel(context, model, dims);
  if (!module)
    return 3;
  bool equal = compare(*module, folder, "imported");
  mlir::PassManager manager(&context);
  buildImportPipeline(manager);
  if (failed(manager.run(*module)))
    throw std::runtime_error("the import pipeline failed");
  return compare(*module, folder, "raised") && equal ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return std::fprintf(stderr, "usage: model_values MODEL FOLDER [NAME=N…]\n"), 2;
  Dims dims;
  for (int i = 3; i < argc; ++i) {
    auto [name, size] = llvm::StringRef(argv[i]).split('=');
    dims[name] = std::stoll(size.str());
  }
  try {
    return run(argv[1], argv[2], dims);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
}
