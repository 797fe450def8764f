//===- EntryFunction.h - @main of an imported model -------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_COMMON_ENTRYFUNCTION_H
#define WEFT_FRONTENDS_COMMON_ENTRYFUNCTION_H

#include "frontends/common/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace weft::frontend {

/// The one function of a model, built from nothing: arguments, then the body, then results.
class EntryFunction {
public:
  /// Adds an empty @main to a module and names `source`, the file that it comes from.
  EntryFunction(mlir::ModuleOp module, llvm::StringRef source);

  /// Throws ImportError where the name is taken or the type has no elements.
  mlir::Value addArgument(mlir::RankedTensorType type, llvm::StringRef name);
  /// Throws ImportError where the name is taken or the value has no elements. A result that is
  /// also called by where it stands in a structure has that as `weft.path`.
  void addResult(mlir::Value value, llvm::StringRef name, llvm::StringRef structurePath = {});
  /// Ends the body; call once, after all arguments and results.
  void finish();

  mlir::Block *body() { return &function.getBody().front(); }

private:
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Attribute> argumentNames, resultNames, resultPaths;
  llvm::SmallVector<mlir::Value> results;
  llvm::StringSet<> takenArguments, takenResults;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_ENTRYFUNCTION_H
