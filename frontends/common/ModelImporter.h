//===- ModelImporter.h - what importers of whole models share ---*- C++ -*-===//
//
// An importer of a kind of file derives from ModelImporter: it builds a module and notes what is
// wrong with the model in `problems`, or throws ImportError where it cannot go on. All of it is
// reported together.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_MODELIMPORTER_H
#define WEFT_FRONTENDS_COMMON_MODELIMPORTER_H

#include "frontends/common/Emitter.h"
#include "frontends/common/EntryFunction.h"
#include "frontends/common/Problems.h"
#include "llvm/ADT/StringMap.h"

namespace weft::frontend {

class ModelImporter {
protected:
  ModelImporter(mlir::MLIRContext &context, llvm::StringRef path);

  /// A verified module with what `build` adds to it; null where there are problems, which have been
  /// reported as errors in the file.
  mlir::OwningOpRef<mlir::ModuleOp> run(llvm::function_ref<void(mlir::ModuleOp module)> build);
  /// Ends a module that is built, unless there are problems.
  void finish(mlir::ModuleOp module, EntryFunction &main, Emitter &emit);

  mlir::MLIRContext &context;
  llvm::StringRef path;
  mlir::Location location; ///< of the file
  Problems problems;
};

/// What a result of a model is called whose file has no names for them: `output`, or of several
/// `output_0` ….
std::string resultName(size_t index, size_t count);

/// The keys of a table, sorted.
template <typename Value> std::vector<std::string> sortedKeys(const llvm::StringMap<Value> &table) {
  std::vector<std::string> names;
  for (llvm::StringRef name : table.keys())
    names.push_back(name.str());
  llvm::sort(names);
  return names;
}

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_MODELIMPORTER_H
