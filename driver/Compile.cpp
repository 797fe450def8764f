#include "driver/Compile.h"

#include "driver/PinConflict.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Support/OutputFile.h"

#include <filesystem>
#include <thread>

using namespace weft;
namespace fs = std::filesystem;

std::vector<llvm::StringRef> weft::listPhases() {
  std::vector<llvm::StringRef> phases{"import", "train", "plan"};
  for (const LoweringPhase &phase : listLoweringPhases())
    phases.push_back(phase.name);
  phases.insert(phases.end(), {"codegen", "write"});
  return phases;
}

/// Runs one phase under the eyes of an observer.
static Outcome runPhase(PhaseObserver *observer, llvm::StringRef phase,
                        llvm::function_ref<Outcome()> work,
                        llvm::function_ref<mlir::ModuleOp()> getModule) {
  if (observer)
    observer->begin(phase);
  Outcome outcome = work();
  if (observer)
    observer->end(phase, outcome.failed() ? mlir::ModuleOp() : getModule());
  return outcome;
}

Outcome weft::lowerModule(mlir::ModuleOp module, const LoweringOptions &options) {
  for (const LoweringPhase &phase : listLoweringPhases()) {
    auto work = [&]() -> Outcome {
      mlir::PassManager passes(module.getContext());
      passes.enableVerifier(options.verifies);
      phase.build(passes, options.target);
      return succeeded(passes.run(module)) ? Outcome::success() : ErrorKind::Infeasible;
    };
    if (Outcome outcome = runPhase(options.observer, phase.name, work, [&] { return module; });
        outcome.failed())
      return outcome;
    if (phase.name == options.last)
      break;
  }
  return Outcome::success();
}

/// Reports what failed; a disk that takes no more is no bad input.
static Outcome fail(mlir::MLIRContext &context, llvm::Error error) {
  std::string message;
  std::error_code code;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    message = info.message();
    code = info.convertToErrorCode();
  });
  bool isFull = code == std::errc::no_space_on_device || code == std::errc::file_too_large ||
                code == std::errc::io_error;
  return fail(context, isFull ? ErrorKind::Failure : ErrorKind::BadInput, message);
}

namespace {
/// What one compilation carries from phase to phase.
class Compilation {
public:
  Compilation(mlir::MLIRContext &context, const std::string &path, const std::string &output,
              const CompileOptions &options)
      : context(context), path(path), output(runtime::followLinks(output)), options(options),
        load(options.load) {
    load.requireData = true;
  }

  Result<CompiledModel> run();

private:
  Outcome runPhase(llvm::StringRef phase, Outcome (Compilation::*work)());
  Outcome importModel();
  Outcome train() { return trainPlanned(*compiled.module, compiled.plan, &search); }
  Outcome plan();
  Outcome generateKernels();
  Outcome write();
  unsigned getThreads() const;

  mlir::MLIRContext &context;
  const std::string &path;
  std::string output; ///< no link
  const CompileOptions &options;
  ModelOptions load;
  CompiledModel compiled;
  std::optional<PinConflict> pins;
  PlanSearch search;
  KernelLibrary library;
};
} // namespace

unsigned Compilation::getThreads() const {
  return options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

Outcome Compilation::importModel() {
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = loadModel(context, path, load);
  if (!module.failed())
    compiled.module = std::move(*module);
  if (!module.failed())
    pins.emplace(*compiled.module, options.plan, getThreads());
  return module.getOutcome();
}

Outcome Compilation::plan() {
  Outcome planned = planModule(*compiled.module, compiled.plan, &search).getOutcome();
  if (std::string excess = planned.failed() ? "" : describeExcess(compiled.plan); !excess.empty()) {
    mlir::InFlightDiagnostic error = mlir::emitError(mlir::UnknownLoc::get(&context));
    error << "the plan's program " << excess;
    error.attachNote() << "weft plan finds a plan that fits, or says what would; where a device "
                          "has more, write 'memory_limit: BYTES' into this one";
    return ErrorKind::Infeasible;
  }
  if (!planned.failed())
    noteModel(compiled.plan, path, output + "/", load);
  return planned;
}

Outcome Compilation::generateKernels() {
  if (!options.codegen)
    return Outcome::success();
  KernelOptions kernels = options.kernels;
  kernels.machine = findTarget(options.device)->getKernelMachine();
  if (kernels.threads == 0)
    kernels.threads = getThreads();
  llvm::Expected<KernelLibrary> made = compileKernels(getKernels(*compiled.module), kernels);
  if (!made)
    return fail(context, made.takeError());
  library = std::move(*made);
  compiled.kernels = library.keys.size();
  return Outcome::success();
}

Outcome Compilation::write() {
  ExecutableOptions to;
  to.target = output;
  to.producer = "weft " WEFT_VERSION;
  to.plan = compiled.plan;
  auto source = (*compiled.module)->getAttrOfType<mlir::StringAttr>("weft.source");
  to.modelFolder = fs::path(source ? source.str() : path).parent_path().string();
  to.weightsFolder = load.weightsDir;
  to.bundleWeights = options.bundleWeights;
  to.threads = getThreads();
  to.kernels = std::move(library.keys);
  to.device = options.device;
  to.features = std::move(library.features);
  to.kernelFile = getKernelFile(library.machine).str();
  to.kernelBytes = std::move(library.bytes);
  llvm::Expected<WrittenExecutable> written = writeExecutable(*compiled.module, to);
  if (!written)
    return fail(context, written.takeError());
  compiled.written = *written;
  return Outcome::success();
}

Outcome Compilation::runPhase(llvm::StringRef phase, Outcome (Compilation::*work)()) {
  return ::runPhase(
      options.observer, phase, [&] { return (this->*work)(); }, [&] { return *compiled.module; });
}

Result<CompiledModel> Compilation::run() {
  if (!findTarget(options.device))
    return fail(context, ErrorKind::Usage, "--device: there is no device '" + options.device + "'");
  if (llvm::Error error = checkKernelCpu(options.kernels.cpu))
    return fail(context, ErrorKind::Usage, "--cpu: " + llvm::toString(std::move(error)));
  Result<plan::Plan> plan = preparePlan(context, options.plan, load);
  if (plan.failed())
    return plan.getOutcome();
  compiled.plan = std::move(*plan);
  search.setThreads(getThreads());
  Outcome outcome = runPhase("import", &Compilation::importModel);
  if (!outcome.failed())
    outcome = runPhase("train", &Compilation::train);
  if (!outcome.failed())
    outcome = runPhase("plan", &Compilation::plan);
  if (pins)
    outcome = pins->explain(outcome);
  if (!outcome.failed())
    outcome = lowerModule(*compiled.module,
                          {options.observer, /*verifies=*/true, /*last=*/{}, options.device});
  if (!outcome.failed())
    outcome = runPhase("codegen", &Compilation::generateKernels);
  if (!outcome.failed())
    outcome = runPhase("write", &Compilation::write);
  if (outcome.failed())
    return outcome;
  return std::move(compiled);
}

Result<CompiledModel> weft::compileModel(mlir::MLIRContext &context, const std::string &path,
                                         const std::string &output, const CompileOptions &options) {
  try {
    return Compilation(context, path, output, options).run();
  } catch (const runtime::Error &error) {
    return fail(context, error.getKind(), error.what());
  }
}
