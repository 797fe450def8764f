//===- LoadModel.h - the model of a command ---------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_LOADMODEL_H
#define WEFT_TOOLS_WEFT_LOADMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/weft/Command.h"

namespace weft::tool {

/// Options of every command that reads a model.
struct ModelOptions {
  std::vector<std::string> dims;                         ///< NAME=N each
  std::vector<std::pair<std::string, int64_t>> planDims; ///< of a plan, where `dims` is empty
  std::vector<std::string> allowedDataDirs;
  std::string weightsDir;
  std::vector<std::string> weights; ///< safetensors files that give values to arguments
  bool raise = true;          ///< to semantic operations, of models that are not modules already
  bool explainMisses = false; ///< print what was nearly raised, and why it was not
};
void addModelOptions(CLI::App &command, ModelOptions &options);

/// What a model may be, for the help of commands that take one.
inline constexpr const char *modelKinds =
    "a model: ONNX (.onnx), torch.export (.pt2), StableHLO (.mlir), or a module that weft import "
    "wrote (.mlir)";

/// Loads an .onnx model, or a module that `weft import` wrote (.mlir), into a context.
/// `weft.source` of the module is a path that can be opened from here. With `requireData`, missing
/// data files are errors. On failure says why on stderr and returns the exit code; `module` is null
/// then.
int loadModel(mlir::MLIRContext &context, const std::string &path, const ModelOptions &options,
              bool requireData, mlir::OwningOpRef<mlir::ModuleOp> &module);

/// The fingerprint of a loaded model: of the graph as it was imported. Raising may read tables, so
/// that what it gives depends on whether the data files are at hand; a plan must not.
std::string fingerprintOf(mlir::ModuleOp module);

/// `path` as seen from the folder `from`; both relative to the working directory. Links on the way
/// are kept in `path`.
std::string relativeTo(const std::string &path, const std::string &from);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_LOADMODEL_H
