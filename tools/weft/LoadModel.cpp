#include "tools/weft/LoadModel.h"

#include "compiler/Plan/Fingerprint.h"
#include "compiler/Plan/PlanSyntax.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "frontends/onnx/Import.h"
#include "frontends/stablehlo/Import.h"
#include "frontends/torch_export/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>

using namespace weft::tool;
using llvm::StringRef;
namespace fs = std::filesystem;

void weft::tool::addModelOptions(CLI::App &command, ModelOptions &options) {
  command.add_option("--dim", options.dims, "bind a symbolic dimension: NAME=N (repeatable)")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  command
      .add_option("--allow-data-dir", options.allowedDataDirs,
                  "a folder besides the model's own where external data may lie (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      .add_option("--weights-dir", options.weightsDir,
                  "look up external data here instead of in the model's folder")
      ->type_name("DIR");
  command
      .add_option("--weights", options.weights,
                  "a .safetensors file: arguments of the model that it holds become parameters "
                  "(StableHLO; repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

std::string weft::tool::relativeTo(const std::string &path, const std::string &from) {
  std::error_code error;
  // Going up from a folder is safe only once its own links are resolved.
  fs::path base = fs::weakly_canonical(fs::absolute(from, error), error);
  fs::path target = fs::absolute(path, error).lexically_normal();
  fs::path relative = error ? fs::path() : target.lexically_relative(base);
  return relative.empty() ? target.string() : relative.string();
}

//===----------------------------------------------------------------------===//
// --dim
//===----------------------------------------------------------------------===//

/// Sizes by the names of symbolic dimensions.
using Dims = llvm::MapVector<StringRef, int64_t>;

/// Binds what one --dim says; the problem with it, or "". `known` are the model's names.
static std::string bindDim(const std::string &text, const std::vector<std::string> &known,
                           Dims &dims) {
  auto [name, number] = StringRef(text).rsplit('=');
  int64_t size = 0;
  if (name.empty() || number.getAsInteger(10, size) || size < 1)
    return "--dim '" + text + "' is not NAME=N with N of 1 or more";
  if (!llvm::is_contained(known, name))
    return "--dim " + text + ": the model has no symbolic dimension '" + name.str() + "'" +
           (known.empty() ? "" : " (it has " + llvm::join(known, ", ") + ")") +
           weft::didYouMean(name, known);
  auto [bound, inserted] = dims.insert({name, size});
  if (!inserted && bound->second != size)
    return "--dim binds '" + name.str() + "' twice, to " + std::to_string(bound->second) +
           " and to " + std::to_string(size);
  return "";
}

/// Reports every --dim that cannot be. `list` tells the names that the model knows.
static int bindDims(const std::string &path, const ModelOptions &options,
                    std::vector<std::string> (*list)(StringRef path), Dims &dims) {
  std::vector<std::string> known;
  if (!options.dims.empty() || !options.planDims.empty())
    known = list(path);
  if (options.dims.empty())
    for (const auto &[name, size] : options.planDims)
      if (llvm::is_contained(known, name))
        dims.insert({name, size});
  int code = Exit::Ok;
  for (const std::string &text : options.dims)
    if (std::string problem = bindDim(text, known, dims); !problem.empty())
      code = fail(Exit::Usage, problem);
  return code;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// A module as `weft import` writes it: its source is relative to the file's own folder, whatever
/// links lead there.
static mlir::OwningOpRef<mlir::ModuleOp> parseModule(mlir::MLIRContext &context,
                                                     const std::string &path) {
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
  if (!module) {
    fail(Exit::BadInput, "'" + path +
                             "' is neither a module of the weft dialect, as `weft import` writes "
                             "one, nor StableHLO in its generic form");
    return module;
  }
  if (auto source = (*module)->getAttrOfType<mlir::StringAttr>("weft.source")) {
    std::error_code error;
    fs::path found = fs::weakly_canonical(path, error).parent_path() / source.str();
    (*module)->setAttr("weft.source",
                       mlir::StringAttr::get(&context, found.lexically_normal().string()));
  }
  return module;
}

/// Whether a text has no shardings that whoever reads it as StableHLO would pass over.
static bool hasNoShardings(const std::string &path, StringRef text) {
  size_t at = text.find("#dist.sharding<");
  if (at == StringRef::npos)
    return true;
  fail(Exit::BadInput, path + ":" + std::to_string(text.take_front(at).count('\n') + 1) +
                           ": shardings of the dist dialect are not read in StableHLO: pin values "
                           "with --shard, or write them in the module that weft import makes");
  return false;
}

/// Whether a module that a person may have written is a model: the compiler takes it for granted.
static bool isModel(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    module.emitError() << "expected a function @main with a body of one block";
    return false;
  }
  auto isTensor = [](mlir::Type type) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  for (mlir::Type type :
       llvm::concat<const mlir::Type>(main.getArgumentTypes(), main.getResultTypes()))
    if (!isTensor(type)) {
      main.emitError() << "expected tensors of static shape in @main, got: " << type;
      return false;
    }
  for (mlir::Operation &op : main.getBody().front().without_terminator())
    if (!mlir::isa<weft::WeftDialect>(op.getDialect()) ||
        !llvm::all_of(op.getResultTypes(), isTensor)) {
      op.emitError() << "expected operations of weft on tensors of static shape in @main, got: "
                     << op.getName();
      return false;
    }
  return true;
}

static constexpr StringRef fingerprintAttr = "weft.fingerprint";

std::string weft::tool::fingerprintOf(mlir::ModuleOp module) {
  auto kept = module->getAttrOfType<mlir::StringAttr>(fingerprintAttr);
  return kept ? kept.str() : weft::fingerprint(module);
}

/// Raises what a frontend made to semantic operations.
static bool raise(mlir::ModuleOp module, bool explainMisses) {
  if (explainMisses)
    sayMisses(*module.getContext());
  mlir::PassManager manager(module.getContext());
  weft::buildImportPipeline(manager);
  module->setAttr(fingerprintAttr,
                  mlir::StringAttr::get(module.getContext(), weft::fingerprint(module)));
  return mlir::succeeded(manager.run(module));
}

/// A module that `weft import` wrote, or StableHLO. Null where it is neither.
static mlir::OwningOpRef<mlir::ModuleOp> readMlir(mlir::MLIRContext &context,
                                                  const std::string &path,
                                                  const ModelOptions &options, bool &isImported) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  StringRef text = buffer ? (*buffer)->getBuffer() : StringRef();
  isImported = weft::classifyMlir(text) != weft::MlirText::Other;
  if (isImported)
    return hasNoShardings(path, text) ? weft::importStableHlo(context, path, {options.weights})
                                      : nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModule(context, path);
  if (!module || !isModel(*module))
    return {};
  (*module)->removeAttr(fingerprintAttr); // the file may have been edited
  return module;
}

int weft::tool::loadModel(mlir::MLIRContext &context, const std::string &path,
                          const ModelOptions &options, bool requireData,
                          mlir::OwningOpRef<mlir::ModuleOp> &module) {
  context.loadDialect<mlir::func::FuncDialect, weft::WeftDialect, weft::dist::DistDialect>();
  context.printOpOnDiagnostic(false); // people know values by name, not by IR
  std::string problem;
  std::optional<ModelFormat> format = findModelFormat(path, problem);
  if (!format)
    return fail(Exit::BadInput, problem);
  bool isMlir = format == ModelFormat::Mlir, isImported = true;
  if (isMlir && !options.dims.empty())
    return fail(Exit::Usage, "--dim: the dimensions of a .mlir model are bound already");
  if (!isMlir && !options.weights.empty())
    return fail(Exit::Usage, "--weights: only StableHLO models have arguments that it can give "
                             "values to");
  PrintDiagnostics printer(&context);
  if (isMlir) {
    module = readMlir(context, path, options, isImported);
  } else if (format == ModelFormat::TorchExport) {
    weft::TorchImportOptions import;
    if (int code = bindDims(path, options, weft::listTorchDims, import.dims))
      return code;
    module = weft::importTorch(context, path, import);
  } else {
    weft::OnnxImportOptions import;
    import.allowedDataDirs = options.allowedDataDirs;
    import.weightsDir = options.weightsDir;
    import.requireData = requireData;
    if (int code = bindDims(path, options, weft::listOnnxDims, import.dims))
      return code;
    module = weft::importOnnx(context, path, import);
  }
  if (module && isImported && options.raise && !raise(*module, options.explainMisses))
    module = nullptr;
  return module ? Exit::Ok : Exit::BadInput;
}
