//===- Compile.cpp - weft compile -----------------------------------------===//

#include "compiler/Executable/WriteExecutable.h"
#include "compiler/Kernel/KernelCompiler.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/OutputFile.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Messages.h"
#include "tools/weft/Phases.h"
#include "tools/weft/Planning.h"

#include <filesystem>
#include <fmt/format.h>
#include <thread>

using namespace weft;
using namespace weft::tool;
namespace fs = std::filesystem;

namespace {
struct CompileOptions {
  std::string model, output, device = "cpu";
  ModelOptions load;
  PlanOptions plan;
  PhaseOptions phases;
  KernelOptions kernels;
  bool bundleWeights = false;
  bool noCodegen = false;
};

/// What one compilation carries from phase to phase.
struct Compilation {
  explicit Compilation(const CompileOptions &options, const Common &common)
      : options(options), common(common), load(options.load), phases(options.phases, common) {}

  const CompileOptions &options;
  const Common &common;
  ModelOptions load;
  Phases phases;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  plan::Plan plan;
  KernelLibrary library;
  WrittenExecutable written;
};
} // namespace

static unsigned getThreads(const Common &common) {
  return common.threads > 0 ? common.threads : std::max(1u, std::thread::hardware_concurrency());
}

/// Says what failed; a disk that takes no more is no bad input.
static int fail(llvm::Error error) {
  std::string message;
  std::error_code code;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    message = info.message();
    code = info.convertToErrorCode();
  });
  bool isFull = code == std::errc::no_space_on_device || code == std::errc::file_too_large ||
                code == std::errc::io_error;
  return fail(isFull ? Exit::Failure : Exit::BadInput, message);
}

/// Runs a pipeline as one phase.
static int runPipeline(Compilation &work, const char *phase, void (*build)(mlir::OpPassManager &)) {
  return work.phases.run(phase, work.module, [&] {
    PrintDiagnostics printer(&work.context);
    mlir::PassManager passes(&work.context);
    build(passes);
    return mlir::succeeded(passes.run(*work.module)) ? Exit::Ok : Exit::Infeasible;
  });
}

static int generateKernels(Compilation &work) {
  if (work.options.noCodegen)
    return Exit::Ok;
  PrintDiagnostics printer(&work.context);
  KernelOptions options = work.options.kernels;
  options.threads = getThreads(work.common);
  llvm::Expected<KernelLibrary> library = compileKernels(getKernels(*work.module), options);
  if (!library)
    return fail(library.takeError());
  work.library = std::move(*library);
  return Exit::Ok;
}

static int write(Compilation &work) {
  ExecutableOptions options;
  options.target = runtime::followLinks(work.options.output);
  options.producer = "weft " WEFT_VERSION;
  options.plan = work.plan;
  auto source = (*work.module)->getAttrOfType<mlir::StringAttr>("weft.source");
  options.modelFolder = fs::path(source ? source.str() : work.options.model).parent_path().string();
  options.weightsFolder = work.load.weightsDir;
  options.bundleWeights = work.options.bundleWeights;
  options.threads = getThreads(work.common);
  options.kernels = work.library.keys;
  options.cpuFeatures = work.library.cpuFeatures;
  options.kernelObject = work.library.bytes;
  llvm::Expected<WrittenExecutable> written = writeExecutable(*work.module, options);
  if (!written)
    return fail(written.takeError());
  work.written = *written;
  return Exit::Ok;
}

static int runCompile(const CompileOptions &options, const Common &common) {
  if (llvm::Error error = checkKernelCpu(options.kernels.cpu))
    return fail(Exit::Usage, "--cpu: " + llvm::toString(std::move(error)));
  if (options.plan.plan.empty() && options.plan.mesh.empty())
    note(
        "no --mesh and no --plan: the executable is for one rank; --mesh data=2,model=2 splits the "
        "model over four");
  Compilation work(options, common);
  if (int code = preparePlan(options.plan, work.load, work.plan))
    return code;
  if (int code = work.phases.run("import", work.module, [&] {
        return loadModel(work.context, options.model, work.load, /*requireData=*/true, work.module);
      }))
    return code;
  if (int code = work.phases.run("plan", work.module, [&] {
        int code = planModule(*work.module, work.plan);
        noteModel(work.plan, options.model, runtime::followLinks(options.output) + "/", work.load);
        return code;
      }))
    return code;
  if (int code = runPipeline(work, "partition", buildPartitionPipeline))
    return code;
  if (int code = runPipeline(work, "fuse", buildKernelPipeline))
    return code;
  if (int code = runPipeline(work, "lower", buildExecPipeline))
    return code;
  if (int code = work.phases.run("codegen", work.module, [&] { return generateKernels(work); }))
    return code;
  if (int code = work.phases.run("write", work.module, [&] { return write(work); }))
    return code;
  work.phases.printTiming();
  if (!common.quiet)
    runtime::print("{}: {} kernels, {:.1f} KiB program, {:.1f} MiB in all\n", options.output,
                   work.library.keys.size(), work.written.programBytes / 1024.0,
                   work.written.totalBytes / (1024.0 * 1024.0));
  return Exit::Ok;
}

CLI::App *weft::tool::addCompile(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("compile", "turn a model into an executable for a mesh of devices");
  auto options = std::make_shared<CompileOptions>();
  command->add_option("model", options->model, modelKinds)->required()->type_name("MODEL");
  command->add_option("-o,--output", options->output, "the executable, a folder, to write")
      ->required()
      ->check([](const std::string &path) {
        return path == "-" ? "an executable is a folder, the standard output takes none" : "";
      })
      ->type_name("NAME.weft");
  addModelOptions(*command, options->load);
  addPlanOptions(*command, options->plan, /*withPlan=*/true);
  command->add_option("--device", options->device, "what kernels are made for")
      ->check(CLI::IsMember({"cpu"}))
      ->capture_default_str();
  command
      ->add_option("--cpu", options->kernels.cpu,
                   "the processor kernels are made for: native, x86-64-v3, …")
      ->capture_default_str();
  command->add_flag("--bundle-weights", options->bundleWeights,
                    "copy the weights into the executable");
  command->add_flag("--no-codegen", options->noCodegen,
                    "leave the kernels out: to inspect and simulate, not to run");
  addPhaseOptions(*command, options->phases,
                  {"import", "plan", "partition", "fuse", "lower", "codegen", "write"});
  command->footer("Examples:\n  weft compile gpt2.onnx --mesh data=2,model=2 -o gpt2.weft\n"
                  "  weft compile gpt2.onnx --plan plan.txtpb -o gpt2.weft\n"
                  "  weft compile gpt2.onnx --timing --dump-ir-after partition -o gpt2.weft");
  run = [options, &common] { return runCompile(*options, common); };
  return command;
}
