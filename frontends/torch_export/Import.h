//===- Import.h - a torch.export archive as a weft module -------*- C++ -*-===//
//
// Reads the program that `torch.export.save` wrote, without Python and without unpickling anything.
// Symbolic sizes are bound before anything else, arithmetic on sizes is evaluated on the way, and
// weights stay in the archive: a parameter becomes a `weft.weight` that names file, offset and
// length. docs/torch_export.md tells what is read and how things are named.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_IMPORT_H
#define WEFT_FRONTENDS_TORCH_EXPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include <string>
#include <vector>

namespace weft {

struct TorchImportOptions {
  /// Sizes by symbol (`s77`) or by the place where they are seen (`input_ids.0`).
  llvm::MapVector<llvm::StringRef, int64_t> dims;
};

/// Imports the archive at `path`: a verified module of weft operations with `weft.source`, its
/// weights and `@main`. Reports everything that is wrong with the program at once, as errors on the
/// context, and returns null.
mlir::OwningOpRef<mlir::ModuleOp> importTorch(mlir::MLIRContext &context, llvm::StringRef path,
                                              const TorchImportOptions &options);

/// The names by which `dims` may bind sizes of the program's inputs; empty where the file is no
/// archive.
std::vector<std::string> listTorchDims(llvm::StringRef path);

/// The operators that can be imported, sorted: `aten.add.Tensor`, `_operator.add`, ….
std::vector<std::string> listTorchOperators();

} // namespace weft

#endif // WEFT_FRONTENDS_TORCH_EXPORT_IMPORT_H
