//===- SourceModule.h - the text of a StableHLO module, parsed --*- C++ -*-===//
//
// Lives in a context of its own: attributes are kept as long as their context, and the constants of
// a traced model can be large. Types and names cross to the other context by `Types.h` and
// `Names.h`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_SOURCEMODULE_H
#define WEFT_FRONTENDS_STABLEHLO_SOURCEMODULE_H

#include "frontends/common/ImportError.h"
#include "frontends/common/Problems.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace weft::frontend::stablehlo {

class SourceModule {
public:
  /// Parses and verifies the file. Throws ImportError, with what MLIR's parser says and where.
  explicit SourceModule(llvm::StringRef path);

  /// The function to import: @main, or the only public one. Throws ImportError where there is none.
  mlir::func::FuncOp entry();
  /// Makes two tensors of each one of complex numbers (ExpandComplex.h), unless the entry takes or
  /// gives such.
  void expandComplex(Problems &problems);
  /// A function by name; null where there is none.
  mlir::func::FuncOp function(llvm::StringRef name) { return functions.lookup(name); }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringMap<mlir::func::FuncOp> functions;
};

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_SOURCEMODULE_H
