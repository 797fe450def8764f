//===- WriteExecutable.h - exec IR and kernels as NAME.weft -----*- C++ -*-===//
//
// NAME.weft/
//   executable.pb                 framed program::Executable
//   kernels/cpu.so                if there are kernels; cuda.ptx of programs for GPUs
//   weights/constants.safetensors constants that the compiler computed
//   weights/model.safetensors     with bundling: the model's weights, else they stay where they are
//
// Everything is written beside the target and then takes its place at once: a failed compile leaves
// an older executable untouched.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXECUTABLE_WRITEEXECUTABLE_H
#define WEFT_COMPILER_EXECUTABLE_WRITEEXECUTABLE_H

#include "compiler/Plan/plan.pb.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace weft {

struct ExecutableOptions {
  std::string target;                ///< path of NAME.weft
  std::string producer;              ///< e.g. "weft 0.1.0"
  plan::Plan plan;                   ///< what was compiled
  std::string modelFolder;           ///< where relative paths of weights start
  std::string weightsFolder;         ///< where given: files of weights are looked for here first
  bool bundleWeights = false;        ///< copy the weights into the executable
  unsigned threads = 1;              ///< for hashing
  std::string device = "cpu";        ///< that runs it
  std::vector<std::string> kernels;  ///< content keys, sorted
  std::vector<std::string> features; ///< what the kernels need
  std::string kernelFile = "cpu.so"; ///< the name of the kernels' file
  std::string kernelBytes;           ///< what it holds
};

/// What was written, for the user's eyes.
struct WrittenExecutable {
  uint64_t programBytes = 0; ///< executable.pb
  uint64_t totalBytes = 0;   ///< the whole folder
};

/// Writes the module's programs. Errors name the file: a weights file that is absent or too short,
/// a target that cannot be replaced.
llvm::Expected<WrittenExecutable> writeExecutable(mlir::ModuleOp module,
                                                  const ExecutableOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_EXECUTABLE_WRITEEXECUTABLE_H
