//===- Compile.cpp - weft compile -----------------------------------------===//

#include "driver/Compile.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/ModelArguments.h"
#include "tools/weft/Output.h"
#include "tools/weft/Phases.h"

#include <fmt/format.h>

using namespace weft;
using namespace weft::tool;

namespace {
struct CompileArguments {
  std::string model, output;
  CompileOptions options;
  PhaseOptions phases;
  bool noCodegen = false;
};
} // namespace

static int runCompile(const CompileArguments &arguments, const Common &common) {
  CompileOptions options = arguments.options;
  Phases phases(arguments.phases, common);
  options.threads = common.threads;
  options.codegen = !arguments.noCodegen;
  options.observer = &phases;
  mlir::MLIRContext context;
  PrintDiagnostics printer(&context, common.verbose);
  Result<CompiledModel> compiled =
      compileModel(context, arguments.model, arguments.output, options);
  if (compiled.failed())
    return compiled.getExitCode();
  bool isAsked =
      !options.plan.plan.empty() || !options.plan.mesh.empty() || !options.plan.cuts.empty();
  if (const auto &meshes = compiled->plan.meshes(); // the model may bring its own
      !isAsked && meshes.size() == 1 && meshes[0].axes().empty())
    note(
        "no --mesh and no --plan: the executable is for one rank; --mesh data=2,model=2 splits the "
        "model over four");
  phases.printTiming();
  if (!common.quiet)
    runtime::print("{}: {} kernels, {:.1f} KiB program, {:.1f} MiB in all\n", arguments.output,
                   compiled->kernels, compiled->written.programBytes / 1024.0,
                   compiled->written.totalBytes / (1024.0 * 1024.0));
  return Exit::Ok;
}

CLI::App *weft::tool::addCompile(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("compile", "turn a model into an executable for a mesh of devices");
  auto arguments = std::make_shared<CompileArguments>();
  CompileOptions &compile = arguments->options;
  command->add_option("model", arguments->model, modelKinds)->required()->type_name("MODEL");
  addOutputOption(*command, arguments->output, "the executable, a folder, to write")
      ->required()
      ->check([](const std::string &path) {
        return path == "-" ? "an executable is a folder, the standard output takes none" : "";
      })
      ->type_name("NAME.weft");
  addModelOptions(*command, compile.load);
  addPlanOptions(*command, compile.plan, /*withPlan=*/true);
  addDeviceOption(*command, compile.device);
  command
      ->add_option("--cpu", compile.kernels.cpu,
                   "the processor kernels are made for: native, x86-64-v3, …")
      ->capture_default_str();
  command->add_flag("--bundle-weights", compile.bundleWeights,
                    "copy the weights into the executable");
  command->add_flag("--no-codegen", arguments->noCodegen,
                    "leave the kernels out: to inspect and simulate, not to run");
  addPhaseOptions(*command, arguments->phases);
  command->footer("Examples:\n  weft compile gpt2.onnx --mesh data=2,model=2 -o gpt2.weft\n"
                  "  weft compile gpt2.onnx --mesh 'data=2;model=2' --cut h.5 -o gpt2.weft\n"
                  "  weft compile gpt2.onnx --plan plan.txtpb -o gpt2.weft\n"
                  "  weft compile gpt2.onnx --timing --dump-ir-after partition -o gpt2.weft");
  run = [arguments, &common] { return runCompile(*arguments, common); };
  return command;
}
