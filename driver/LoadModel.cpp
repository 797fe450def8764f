#include "driver/LoadModel.h"

#include "compiler/Plan/Fingerprint.h"
#include "compiler/Plan/PlanSyntax.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "driver/ModelFormat.h"
#include "driver/WrittenModel.h"
#include "frontends/config/Import.h"
#include "frontends/onnx/Import.h"
#include "frontends/stablehlo/Import.h"
#include "frontends/torch_export/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>

using namespace weft;
using llvm::StringRef;
namespace fs = std::filesystem;

std::string weft::relativeTo(const std::string &path, const std::string &from) {
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
static Outcome bindDims(mlir::MLIRContext &context, const std::string &path,
                        const ModelOptions &options,
                        std::vector<std::string> (*list)(StringRef path), Dims &dims) {
  std::vector<std::string> known;
  if (!options.dims.empty() || !options.planDims.empty())
    known = list(path);
  if (options.dims.empty())
    for (const auto &[name, size] : options.planDims)
      if (llvm::is_contained(known, name))
        dims.insert({name, size});
  Outcome outcome = Outcome::success();
  for (const std::string &text : options.dims)
    if (std::string problem = bindDim(text, known, dims); !problem.empty())
      outcome = fail(context, ErrorKind::Usage, problem);
  return outcome;
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
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "'" << path
        << "' is neither a module of the weft dialect, as `weft import` writes one, nor StableHLO "
           "in its generic form";
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
static bool hasNoShardings(mlir::MLIRContext &context, const std::string &path, StringRef text) {
  size_t at = text.find("#dist.sharding<");
  if (at == StringRef::npos)
    return true;
  mlir::emitError(mlir::UnknownLoc::get(&context))
      << path << ":" << text.take_front(at).count('\n') + 1
      << ": shardings of the dist dialect are not read in StableHLO: pin values with --shard, or "
         "write them in the module that weft import makes";
  return false;
}

static constexpr StringRef fingerprintAttr = "weft.fingerprint";

std::string weft::fingerprintOf(mlir::ModuleOp module) {
  auto kept = module->getAttrOfType<mlir::StringAttr>(fingerprintAttr);
  return kept ? kept.str() : weft::fingerprint(module);
}

void weft::setFingerprint(mlir::ModuleOp module, const std::string &fingerprint) {
  module->setAttr(fingerprintAttr, mlir::StringAttr::get(module.getContext(), fingerprint));
}

void weft::forgetFingerprint(mlir::ModuleOp module) { module->removeAttr(fingerprintAttr); }

/// Makes states of the inputs that outputs are carried to.
static bool carryOutputs(mlir::ModuleOp module, llvm::ArrayRef<std::string> pairs) {
  if (pairs.empty())
    return true;
  mlir::PassManager manager(module.getContext());
  CarryOutputsOptions options;
  options.pairs.assign(pairs.begin(), pairs.end());
  manager.addPass(createCarryOutputs(options));
  return mlir::succeeded(manager.run(module));
}

/// Raises what a frontend made to semantic operations.
static bool raise(mlir::ModuleOp module, bool isTrained) {
  mlir::PassManager manager(module.getContext());
  manager.enableVerifier(false); // but once, at the end
  buildImportPipeline(manager, isTrained);
  weft::setFingerprint(module, weft::fingerprint(module));
  return mlir::succeeded(manager.run(module)) && mlir::succeeded(mlir::verify(module));
}

/// A module that `weft import` wrote, or StableHLO. Null where it is neither.
static mlir::OwningOpRef<mlir::ModuleOp> readMlir(mlir::MLIRContext &context,
                                                  const std::string &path,
                                                  const ModelOptions &options, bool &isImported) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  StringRef text = buffer ? (*buffer)->getBuffer() : StringRef();
  isImported = classifyMlir(text) != MlirText::Other;
  if (isImported)
    return hasNoShardings(context, path, text) ? importStableHlo(context, path, {options.weights})
                                               : nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModule(context, path);
  if (!module || !checkWrittenModel(*module))
    return {};
  forgetFingerprint(*module); // the file may have been edited
  return module;
}

/// Reads a model by its format; null where that was reported to fail with BadInput.
static Result<mlir::OwningOpRef<mlir::ModuleOp>>
readModel(mlir::MLIRContext &context, ModelFormat format, const std::string &path,
          const ModelOptions &options, bool &isImported) {
  if (format == ModelFormat::Mlir)
    return readMlir(context, path, options, isImported);
  if (format == ModelFormat::TorchExport) {
    TorchImportOptions import;
    if (Outcome bound = bindDims(context, path, options, listTorchDims, import.dims);
        bound.failed())
      return bound;
    return importTorch(context, path, import);
  }
  if (format == ModelFormat::Config) {
    ConfigImportOptions import;
    if (Outcome bound = bindDims(context, path, options, listConfigDims, import.dims);
        bound.failed())
      return bound;
    import.dtype = options.dtype.empty() ? options.planDtype : options.dtype;
    import.weights = options.weights;
    return importConfig(context, path, import);
  }
  OnnxImportOptions import;
  import.allowedDataDirs = options.allowedDataDirs;
  import.weightsDir = options.weightsDir;
  import.requireData = options.requireData;
  if (Outcome bound = bindDims(context, path, options, listOnnxDims, import.dims); bound.failed())
    return bound;
  return importOnnx(context, path, import);
}

Result<mlir::OwningOpRef<mlir::ModuleOp>>
weft::loadModel(mlir::MLIRContext &context, const std::string &path, const ModelOptions &options) {
  context.loadDialect<mlir::func::FuncDialect, WeftDialect, dist::DistDialect>();
  context.printOpOnDiagnostic(false); // people know values by name, not by IR
  std::string problem;
  std::optional<ModelFormat> format = findModelFormat(path, problem);
  if (!format)
    return fail(context, ErrorKind::BadInput, problem);
  bool isMlir = format == ModelFormat::Mlir, isConfig = format == ModelFormat::Config;
  bool isImported = true;
  if (isMlir && !options.dims.empty())
    return fail(context, ErrorKind::Usage,
                "--dim: the dimensions of a .mlir model are bound already");
  if (!isMlir && !isConfig && !options.weights.empty())
    return fail(context, ErrorKind::Usage,
                "--weights: only arguments of StableHLO models, and weights of configurations, can "
                "be given values");
  if (!isConfig && !options.dtype.empty())
    return fail(context, ErrorKind::Usage,
                "--dtype: only configurations of transformers leave it open");
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module =
      readModel(context, *format, path, options, isImported);
  if (module.failed())
    return module;
  if (*module && !options.carry.empty() && isInParts(**module))
    return fail(context, ErrorKind::Usage,
                "--carry: a model that is written in parts stores its states itself, in them");
  if (*module && !carryOutputs(**module, options.carry.empty() ? options.planCarry : options.carry))
    return options.carry.empty() ? ErrorKind::BadInput : ErrorKind::Usage;
  if (!*module || (isImported && options.raise && !raise(**module, options.isTrained)))
    return ErrorKind::BadInput;
  return module;
}
