//===- jax_cases.cpp - the StableHLO frontend against JAX -----------------===//
//
// jax_cases LIST DIR: DIR holds NAME/model.mlir and NAME/values.bin as make_cases.py writes them. A
// model is imported and interpreted, as it is and raised, and its results compared with JAX's. LIST
// says what is not covered (see Suite.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "frontends/stablehlo/Import.h"
#include "frontends/stablehlo/ops/OpTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"
#include "test/conformance/Suite.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>

namespace fs = std::filesystem;
using namespace weft;
using conformance::Failure;

/// XLA's own functions are about as good as this.
static conformance::Tolerance toleranceOf(mlir::Type element) {
  if (element.isBF16())
    return {2.0 / 128, 1e-2};
  return element.isF16() ? conformance::Tolerance{4.0 / 1024, 1e-3}
                         : conformance::Tolerance{1e-4, 2e-5};
}

namespace {

/// The recorded bytes, read off one tensor after the other.
class Values {
public:
  explicit Values(llvm::StringRef bytes) : rest(bytes) {}
  Tensor next(mlir::RankedTensorType type) {
    Tensor shape = Tensor::allocate(type);
    size_t length = type.getNumElements() * shape.elementBytes();
    auto tensor = Tensor::fromBytes(type, {rest.data(), std::min(length, rest.size())});
    if (!tensor)
      throw Failure("recorded values: " + llvm::toString(tensor.takeError()));
    rest = rest.drop_front(length);
    return *tensor;
  }

private:
  llvm::StringRef rest;
};

} // namespace

static std::unique_ptr<llvm::MemoryBuffer> read(const fs::path &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path.string());
  if (!buffer)
    throw Failure("cannot read " + path.string());
  return std::move(*buffer);
}

static void compare(mlir::ModuleOp module, llvm::StringRef bytes, const std::string &what) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  Values values(bytes);
  llvm::SmallVector<Tensor> inputs;
  for (mlir::Type type : main.getArgumentTypes())
    inputs.push_back(values.next(mlir::cast<mlir::RankedTensorType>(type)));
  auto results = interpret(module, inputs);
  if (!results)
    throw Failure(what + llvm::toString(results.takeError()));
  try {
    for (auto [index, result] : llvm::enumerate(*results))
      conformance::expectEqual(result, values.next(result.type()), index,
                               toleranceOf(result.type().getElementType()));
  } catch (const Failure &failure) {
    throw Failure(what + failure.what());
  }
}

static void runCase(const fs::path &folder) {
  mlir::MLIRContext context;
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  auto module = importStableHlo(context, (folder / "model.mlir").string(), {});
  if (!module)
    throw Failure(reason);
  auto values = read(folder / "values.bin");
  compare(*module, values->getBuffer(), "");
  mlir::PassManager passes(&context);
  buildImportPipeline(passes);
  if (mlir::failed(passes.run(*module)))
    throw Failure("raising failed: " + reason);
  compare(*module, values->getBuffer(), "raised: ");
}

/// The supported operations that a model's text names.
static std::vector<std::string> operationsIn(const fs::path &folder,
                                             const std::set<std::string> &known) {
  std::vector<std::string> found;
  auto text = read(folder / "model.mlir");
  for (const std::string &name : known)
    if (text->getBuffer().contains("\"" + name + "\"("))
      found.push_back(name);
  return found;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return std::fprintf(stderr, "usage: jax_cases LIST DIR\n"), 2;
  try {
    conformance::Suite suite(argv[1]);
    std::set<std::string> known;
    auto table = frontend::stablehlo::makeOpTable();
    for (llvm::StringRef name : table.keys())
      known.insert(name.str());
    std::set<fs::path> folders;
    for (const auto &entry : fs::directory_iterator(argv[2]))
      folders.insert(entry.path());
    for (const fs::path &folder : folders)
      try {
        runCase(folder);
        suite.pass(operationsIn(folder, known));
      } catch (const std::exception &failure) {
        suite.miss(folder.filename().string(), failure.what());
      }
    suite.checkOperators(known);
    return suite.report();
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "jax_cases: %s\n", error.what()), 1;
  }
}
