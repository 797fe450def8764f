//===- compile_and_run.cpp - a model on two ranks, from C++ ---------------===//
//
// compile_and_run MODEL INPUTS OUTPUTS: compiles a model for two ranks, runs it on the arrays in
// the folder INPUTS (NAME.npy each), and compares with those recorded in OUTPUTS.
//
//===----------------------------------------------------------------------===//

#include "driver/Compile.h"
#include "driver/Messages.h"
#include "runtime/Executor/Run.h"

#include <iostream>

static int compileAndRun(const char *model, const char *inputs, const char *outputs) {
  mlir::MLIRContext context;
  weft::CollectMessages messages(&context);
  weft::CompileOptions options;
  options.plan.mesh = "model=2";
  auto compiled = weft::compileModel(context, model, "example.weft", options);
  std::cerr << messages.str();
  if (compiled.failed())
    return compiled.getExitCode();
  for (const weft::plan::Decision &decision : compiled->plan.decisions())
    std::cout << decision.value() << ": " << decision.reason() << "\n";

  weft::runtime::RunOptions run;
  run.inputs.folder = inputs;
  run.expectDir = outputs;
  auto executable = weft::runtime::loadExecutable("example.weft");
  auto report = weft::runtime::runLocal(
      std::make_shared<const weft::runtime::Executable>(std::move(executable)), run);
  bool equal = !report.comparisons.empty();
  for (const weft::runtime::Comparison &output : report.comparisons) {
    std::cout << output.name << " differs by " << output.getRelative() << " of its magnitude\n";
    equal = equal && output.isWithin(/*tolerance=*/1e-4);
  }
  return equal ? 0 : static_cast<int>(weft::ErrorKind::Mismatch);
}

int main(int argc, char **argv) try {
  if (argc != 4)
    throw weft::runtime::Error(weft::ErrorKind::Usage, "compile_and_run MODEL INPUTS OUTPUTS");
  return compileAndRun(argv[1], argv[2], argv[3]);
} catch (const weft::runtime::Error &error) {
  std::cerr << error.what() << "\n";
  return error.getExitCode();
}
