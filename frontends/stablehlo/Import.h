//===- Import.h - a StableHLO module as a weft module -----------*- C++ -*-===//
//
// Reads the generic text form that JAX prints (`operation.get_asm(print_generic_op_form=True)`)
// without the StableHLO library: operations and attributes are parsed as of an unregistered
// dialect, their meaning (StableHLO's specification, and where that leaves a choice, what XLA does)
// is Weft's own. Private functions are inlined, loops whose trip count folds are unrolled.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_IMPORT_H
#define WEFT_FRONTENDS_STABLEHLO_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace weft {

struct StableHloImportOptions {
  /// Files in the safetensors format. An argument of the model that one of them holds becomes a
  /// parameter that refers to the bytes there.
  std::vector<std::string> weights;
};

/// What a file with MLIR's extension or magic number holds, told by its first bytes and by the
/// operations that it names.
enum class MlirText {
  Other,            ///< a module of the weft dialect, or nothing known
  GenericStableHlo, ///< what importStableHlo reads
  PrettyStableHlo,  ///< StableHLO in its custom assembly: needs the StableHLO library
  Vhlo,             ///< the versioned dialect as text
  Bytecode          ///< MLIR bytecode, which JAX writes StableHLO artifacts in
};
MlirText classifyMlir(llvm::StringRef contents);

/// What to tell somebody who has one of the forms that cannot be read, with the way to the generic
/// form; "" for the others.
llvm::StringRef adviseOnForm(MlirText form);

/// Imports the module at `path`: a verified module of weft operations with `weft.source`, its
/// weights and `@main`. Reports everything that is wrong with the model at once, as errors on the
/// context, and returns null.
mlir::OwningOpRef<mlir::ModuleOp> importStableHlo(mlir::MLIRContext &context, llvm::StringRef path,
                                                  const StableHloImportOptions &options);

/// The operations that can be imported, sorted: `stablehlo.add`, ….
std::vector<std::string> listStableHloOperations();

} // namespace weft

#endif // WEFT_FRONTENDS_STABLEHLO_IMPORT_H
