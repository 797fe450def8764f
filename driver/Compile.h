//===- Compile.h - a model becomes an executable ----------------*- C++ -*-===//
//
// The whole way of `weft compile`, for programs that call the compiler themselves:
//
//   mlir::MLIRContext context;
//   weft::CollectMessages messages(&context);
//   weft::CompileOptions options;
//   options.plan.mesh = "data=2,model=2";
//   auto compiled = weft::compileModel(context, "gpt2.onnx", "gpt2.weft", options);
//   if (compiled.failed())
//     std::cerr << messages.str();
//
// examples/ has the whole program, which also runs what it compiled. The phases are those of
// listPhases(); one by one they are loadModel (LoadModel.h), preparePlan and planModule
// (Planning.h), lowerModule, and compileKernels and writeExecutable of compiler/.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DRIVER_COMPILE_H
#define WEFT_DRIVER_COMPILE_H

#include "compiler/Executable/WriteExecutable.h"
#include "compiler/Kernel/KernelCompiler.h"
#include "driver/Phases.h"
#include "driver/Planning.h"

namespace weft {

struct CompileOptions {
  ModelOptions load; ///< data files must be there in any case
  PlanOptions plan;
  std::string device = cpuTarget.str(); ///< what runs it: "cpu", "cuda"
  KernelOptions kernels;                ///< `machine` is the device's
  bool codegen = true;                  ///< without kernels, it can be inspected but not run
  bool bundleWeights = false;           ///< copy the weights into the executable
  unsigned threads = 0;                 ///< to compile with; 0: all cores
  PhaseObserver *observer = nullptr;    ///< not owned
};

/// What was compiled.
struct CompiledModel {
  plan::Plan plan;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< the instructions, and the functions of the kernels
  size_t kernels = 0;                       ///< distinct
  WrittenExecutable written;
};

/// Compiles the model at `path` and writes the executable, a folder, to `output`; what stands there
/// is replaced at once, or left where something fails. Fails with Usage, BadInput and Infeasible as
/// the phases do, and with Failure where nothing can be written.
Result<CompiledModel> compileModel(mlir::MLIRContext &context, const std::string &path,
                                   const std::string &output, const CompileOptions &options = {});

struct LoweringOptions {
  PhaseObserver *observer = nullptr; ///< not owned
  /// Where the program is only looked at and never runs, the verifier may stay out between passes:
  /// it takes a quarter of the time.
  bool verifies = true;
  llvm::StringRef last = {};          ///< the phase to end with; empty: all
  llvm::StringRef target = cpuTarget; ///< of the device that runs it
};

/// Brings a planned module to instructions in arenas, by the registered pipelines. Fails with
/// Infeasible.
Outcome lowerModule(mlir::ModuleOp module, const LoweringOptions &options = {});

} // namespace weft

#endif // WEFT_DRIVER_COMPILE_H
