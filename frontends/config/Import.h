//===- Import.h - a transformer's configuration as a module -----*- C++ -*-===//
//
// Reads a config.json as model hubs have them, and builds the graph that such a model is, with
// weights of zeros: for planning models that nobody has downloaded.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_CONFIG_IMPORT_H
#define WEFT_FRONTENDS_CONFIG_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include <string>
#include <vector>

namespace weft {

struct ConfigImportOptions {
  llvm::MapVector<llvm::StringRef, int64_t> dims; ///< of those that listConfigDims names
  std::string dtype;                ///< float32, float16, bfloat16 or short; empty: as configured
  std::vector<std::string> weights; ///< .safetensors files; none: zeros
};

/// Whether a file's beginning is that of a configuration: an object in JSON with a model_type.
bool isConfig(llvm::StringRef head);

/// Imports the configuration at `path`: a verified module of weft operations with `weft.source`,
/// `@main`, and `weft.loss`, which says what its kind of model is trained with. Reports what is
/// wrong with it as errors on the context, and returns null.
mlir::OwningOpRef<mlir::ModuleOp> importConfig(mlir::MLIRContext &context, llvm::StringRef path,
                                               const ConfigImportOptions &options);

/// The sizes that a step of the model takes: `batch`, `seq` and such; of a type that is not known,
/// all there are.
std::vector<std::string> listConfigDims(llvm::StringRef path);

} // namespace weft

#endif // WEFT_FRONTENDS_CONFIG_IMPORT_H
