//===- Import.cpp - weft import -------------------------------------------===//

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/Support/Console.h"
#include "tools/weft/LoadModel.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Operators.h"
#include "tools/weft/OutputStream.h"
#include "llvm/Support/MathExtras.h"
#include <filesystem>

using namespace mlir;
using namespace weft;
using namespace weft::tool;

namespace {
struct ImportOptions {
  std::string model, output = "-", operatorsOf;
  ModelOptions load;
};
} // namespace

static std::string folderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Data of a weight starts at a multiple of this, good for any vector load.
static constexpr uint64_t dataAlignment = 64;

/// The weights whose data the module holds as resources.
static SmallVector<weft::WeightOp> listHeld(ModuleOp module) {
  SmallVector<weft::WeightOp> held;
  for (auto weight : module.getOps<weft::WeightOp>())
    if (isa<DenseResourceElementsAttr>(weight.getStorage()))
      held.push_back(weight);
  return held;
}

/// Moves the data of weights into a file, and refers to it there, relative to the model's source.
static void moveData(ModuleOp module, ArrayRef<weft::WeightOp> held, runtime::OutputFile &file) {
  auto source = module->getAttrOfType<StringAttr>("weft.source");
  std::string reference = relativeTo(file.getPath(), folderOf(source.str()));
  uint64_t offset = 0;
  for (weft::WeightOp weight : held) {
    ArrayRef<char> data =
        cast<DenseResourceElementsAttr>(weight.getStorage()).getRawHandle().getBlob()->getData();
    file.write(std::string(llvm::alignTo(offset, dataAlignment) - offset, '\0'));
    offset = llvm::alignTo(offset, dataAlignment);
    file.write({data.data(), data.size()});
    weight.setStorageAttr(
        weft::ExternalAttr::get(module.getContext(), reference, offset, data.size()));
    offset += data.size();
  }
}

/// Writes the module. As a file of its own it has paths relative to its folder, and large constants
/// beside it in FILE.data; neither is put in its place before both are whole.
static void write(ModuleOp module, runtime::OutputFile &file) {
  std::optional<runtime::OutputFile> data;
  if (file.getKind() == runtime::OutputKind::Replaced) {
    if (SmallVector<weft::WeightOp> held = listHeld(module); !held.empty())
      moveData(module, held, data.emplace(file.getPath() + ".data"));
    auto source = module->getAttrOfType<StringAttr>("weft.source");
    std::string relative = relativeTo(source.str(), folderOf(file.getPath()));
    module->setAttr("weft.source", StringAttr::get(module.getContext(), relative));
  }
  OutputStream stream(file);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  stream.finish();
  if (data)
    data->commit();
  file.commit();
}

static int runImport(const ImportOptions &options) {
  if (!options.operatorsOf.empty()) {
    runtime::printText(describeOperators(options.operatorsOf));
    return Exit::Ok;
  }
  if (options.model.empty())
    return fail(Exit::Usage, "expected a MODEL, or --list-operators (see weft import --help)");
  runtime::OutputFile file(options.output);
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  if (int code = loadModel(context, options.model, options.load, /*requireData=*/false, module))
    return code;
  (*module)->removeAttr("weft.fingerprint"); // of the file that was read, not of the one written
  write(*module, file);
  return Exit::Ok;
}

CLI::App *weft::tool::addImport(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("import", "read a model and write it as a module of weft operations");
  auto options = std::make_shared<ImportOptions>();
  command->add_option("model", options->model, modelKinds)->type_name("MODEL");
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
  command->footer(
      "Examples:\n  weft import gpt2.onnx -o gpt2.mlir\n"
      "  weft import gpt2.onnx -v -o gpt2.mlir    # what was nearly raised, and why not\n"
      "  weft import model_dynamic.onnx --dim batch=4 --dim seq=32 -o model.mlir");
  run = [options, &common] {
    options->load.explainMisses = common.verbose;
    return runImport(*options);
  };
  return command;
}
