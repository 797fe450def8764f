//===- Import.cpp - weft import -------------------------------------------===//

#include "driver/LoadModel.h"
#include "driver/Operators.h"
#include "driver/WriteModule.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/Output.h"

using namespace weft;
using namespace weft::tool;

namespace {
struct ImportOptions {
  std::string model, output = "-", operatorsOf;
  ModelOptions load;
};
} // namespace

static int runImport(const ImportOptions &options, bool explainMisses) {
  if (!options.operatorsOf.empty()) {
    runtime::printText(describeOperators(options.operatorsOf));
    return Exit::Ok;
  }
  if (options.model.empty())
    return fail(Exit::Usage, "expected a MODEL, or --list-operators (see weft import --help)");
  runtime::OutputFile file(options.output);
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context);
  if (explainMisses)
    printMissedRemarks(context);
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module =
      loadModel(context, options.model, options.load);
  if (module.failed())
    return module.getExitCode();
  return writeModule(**module, file).getExitCode();
}

CLI::App *weft::tool::addImport(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("import", "read a model and write it as a module of weft operations");
  auto options = std::make_shared<ImportOptions>();
  command->add_option("model", options->model, modelKinds)->type_name("MODEL");
  addOutputOption(*command, options->output,
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
  run = [options, &common] { return runImport(*options, common.verbose); };
  return command;
}
