//===- LoadModel.h - a model of any format as a module ----------*- C++ -*-===//

#ifndef WEFT_DRIVER_LOADMODEL_H
#define WEFT_DRIVER_LOADMODEL_H

#include "driver/Outcome.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace weft {

/// How a model is read. What is spelled as on the command line is told of in its words.
struct ModelOptions {
  std::vector<std::string> dims;                         ///< NAME=N each
  std::vector<std::pair<std::string, int64_t>> planDims; ///< of a plan, where `dims` is empty
  std::string dtype;     ///< of a configuration's weights and activations; empty: as it says
  std::string planDtype; ///< of a plan, where `dtype` is empty
  std::vector<std::string> carry;           ///< OUTPUT=INPUT each
  std::vector<std::string> planCarry;       ///< of a plan, where `carry` is empty
  std::vector<std::string> allowedDataDirs; ///< where external data may lie besides the model's own
  std::string weightsDir;           ///< where given, external data is looked up here instead
  std::vector<std::string> weights; ///< safetensors files that give values to arguments
  bool isTrained = true;            ///< else what is imported has no marks for differentiation
  bool raise = true;        ///< to semantic operations, of models that are not modules already
  bool requireData = false; ///< missing data files are errors
};

/// Loads a model: ONNX, torch.export, StableHLO, or a module that `weft import` wrote, told apart
/// by what the file holds. The context gets the dialects that it needs. `weft.source` of the module
/// is a path that can be opened from here. Fails with BadInput, or with Usage where an option does
/// not fit the model.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
loadModel(mlir::MLIRContext &context, const std::string &path, const ModelOptions &options = {});

/// The fingerprint of a loaded model: of the graph as it was imported. Raising may read tables, so
/// that what it gives depends on whether the data files are at hand; a plan must not.
std::string fingerprintOf(mlir::ModuleOp module);

/// Notes the fingerprint of a module that does not stand for itself any more.
void setFingerprint(mlir::ModuleOp module, const std::string &fingerprint);

/// Takes the fingerprint of what was read off a module that becomes a model of its own.
void forgetFingerprint(mlir::ModuleOp module);

/// `path` as seen from the folder `from`; both relative to the working directory. Links on the way
/// are kept in `path`.
std::string relativeTo(const std::string &path, const std::string &from);

} // namespace weft

#endif // WEFT_DRIVER_LOADMODEL_H
