//===- Import.h - an ONNX file as a weft module -----------------*- C++ -*-===//
//
// The semantics of opsets 1 to 28 are Weft's own (libonnx lends its protobuf classes only).
// Dimensions are bound before anything else, shape arithmetic is evaluated on the way, and weights
// stay in their files: an initializer becomes a `weft.weight` that names file, offset and length.
// Integers, booleans and scalars are constants.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_IMPORT_H
#define WEFT_FRONTENDS_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include <functional>
#include <string>
#include <vector>

namespace weft {

struct OnnxImportOptions {
  /// Extents of symbolic dimensions by name. An unnamed unknown dimension d of an input is called
  /// `input.d`.
  llvm::MapVector<llvm::StringRef, int64_t> dims;
  /// Folders besides the model's own in which external data may lie.
  std::vector<std::string> allowedDataDirs;
  /// Where data files are looked up instead of the model's folder; empty: there.
  std::string weightsDir;
  /// Whether a missing data file is an error. Without it, integer and boolean tensors that lie
  /// there cannot take part in shape arithmetic.
  bool requireData = false;
};

/// Imports the model at `path`: a verified module of weft operations with `weft.source`, its
/// weights and `@main`. Reports everything that is wrong with the model at once, as errors on the
/// context, and returns null.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             const OnnxImportOptions &options);

/// The names of the symbolic dimensions of the model's inputs, in order; empty where the file is no
/// ONNX model.
std::vector<std::string> listOnnxDims(llvm::StringRef path);

/// NAME=N for each of these that `shapeOf` an input gives a size; it gives {} for one it does not
/// know.
std::vector<std::string>
bindOnnxDims(llvm::StringRef path,
             const std::function<std::vector<int64_t>(llvm::StringRef input)> &shapeOf);

/// The operators that can be imported, sorted: `Add`, `domain::Name`, ….
std::vector<std::string> listOnnxOperators();

} // namespace weft

#endif // WEFT_FRONTENDS_ONNX_IMPORT_H
