//===- Import.cpp - weft import -------------------------------------------===//

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "tools/weft/LoadModel.h"
#include "tools/weft/Operators.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>

using namespace mlir;
using namespace weft::tool;

namespace {
struct ImportOptions {
  std::string model, output = "-", operatorsOf;
  ModelOptions load;
};
} // namespace

/// Data of a weight starts at a multiple of this, good for any vector load.
static constexpr uint64_t dataAlignment = 64;

/// Writes constants that the module holds as resources into a file, and refers to them there. True
/// if there were any.
static llvm::Expected<bool> moveConstants(ModuleOp module, const std::string &path) {
  SmallVector<weft::WeightOp> held;
  for (auto weight : module.getOps<weft::WeightOp>())
    if (isa<DenseResourceElementsAttr>(weight.getStorage()))
      held.push_back(weight);
  if (held.empty())
    return false;
  auto source = module->getAttrOfType<StringAttr>("weft.source");
  std::string folder = std::filesystem::path(source.str()).parent_path().string();
  std::string reference = relativeTo(path, folder.empty() ? "." : folder);
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
    uint64_t offset = 0;
    for (weft::WeightOp weight : held) {
      ArrayRef<char> data =
          cast<DenseResourceElementsAttr>(weight.getStorage()).getRawHandle().getBlob()->getData();
      stream.write_zeros(llvm::alignTo(offset, dataAlignment) - offset);
      offset = llvm::alignTo(offset, dataAlignment);
      stream.write(data.data(), data.size());
      weight.setStorageAttr(
          weft::ExternalAttr::get(module.getContext(), reference, offset, data.size()));
      offset += data.size();
    }
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return true;
}

static llvm::Error writeModule(ModuleOp module, const std::string &path) {
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
    module.print(stream, OpPrintingFlags().enableDebugInfo());
    stream << "\n";
    return llvm::Error::success();
  });
}

/// Writes the module, with paths in it relative to its own folder. On failure nothing is left
/// behind.
static int writeFile(ModuleOp module, const std::string &path) {
  std::string data = path + ".data";
  llvm::Expected<bool> moved = moveConstants(module, data);
  if (!moved)
    return fail(Exit::BadInput,
                "cannot write '" + data + "': " + llvm::toString(moved.takeError()));
  auto source = module->getAttrOfType<StringAttr>("weft.source");
  std::string folder = std::filesystem::path(path).parent_path().string();
  module->setAttr("weft.source",
                  StringAttr::get(module.getContext(),
                                  relativeTo(source.str(), folder.empty() ? "." : folder)));
  llvm::Error error = writeModule(module, path);
  if (!error)
    return Exit::Ok;
  if (*moved)
    llvm::sys::fs::remove(data);
  return fail(Exit::BadInput, "cannot write '" + path + "': " + llvm::toString(std::move(error)));
}

static int runImport(const ImportOptions &options) {
  if (!options.operatorsOf.empty()) {
    llvm::outs() << describeOperators(options.operatorsOf);
    return Exit::Ok;
  }
  if (options.model.empty())
    return fail(Exit::Usage, "expected a MODEL, or --list-operators (see weft import --help)");
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  if (int code = loadModel(context, options.model, options.load, /*requireData=*/false, module))
    return code;
  (*module)->removeAttr("weft.fingerprint"); // of the file that was read, not of the one written
  if (options.output != "-")
    return writeFile(*module, options.output);
  module->print(llvm::outs(), OpPrintingFlags().enableDebugInfo());
  llvm::outs() << "\n";
  return Exit::Ok;
}

CLI::App *weft::tool::addImport(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("import", "read a model and write it as a module of weft operations");
  auto options = std::make_shared<ImportOptions>();
  command->add_option("model", options->model, "an .onnx, .pt2 or StableHLO .mlir file")
      ->type_name("MODEL");
  command
      ->add_option("-o,--output", options->output,
                   "the module to write (default: -, the standard output)")
      ->type_name("FILE.mlir");
  command->add_flag("!--raw", options->load.raise, "leave out the raising to semantic operations");
  command
      ->add_option("--list-operators", options->operatorsOf,
                   "instead, list the operators that models of this kind may have")
      ->check(CLI::IsMember({"onnx", "torch", "stablehlo"}))
      ->type_name("KIND");
  addModelOptions(*command, options->load);
  command->footer("Examples:\n  weft import gpt2.onnx -o gpt2.mlir\n"
                  "  weft import model_dynamic.onnx --dim batch=4 --dim seq=32 -o model.mlir");
  run = [options] { return runImport(*options); };
  return command;
}
