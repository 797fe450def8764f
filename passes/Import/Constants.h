//===- Constants.h - values known at compile time ---------------*- C++ -*-===//
//
// What constants, tables and masks hold, and new ones. A pass keeps one of these for all that it
// does to a module: weights are read once, and equal constants are made once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_CONSTANTS_H
#define WEFT_PASSES_IMPORT_CONSTANTS_H

#include "compiler/Interpret/Tensor.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace weft {

class Constants {
public:
  explicit Constants(mlir::Operation *module) : symbols(module) {}

  /// The value of a constant expression: of constants, and of weights that are not too large and
  /// whose file is at hand.
  mlir::FailureOr<Tensor> valueOf(mlir::Value value);

  /// A constant of this value: a weft.constant, or a load of a weight of kind `constant` where it
  /// is large.
  mlir::Value create(mlir::OpBuilder &builder, mlir::Location loc, const Tensor &value,
                     llvm::StringRef name);

  WeightOp weightOf(LoadOp load) const {
    return symbols.lookup<WeightOp>(load.getWeightAttr().getAttr());
  }

private:
  mlir::FailureOr<Tensor> valueOf(mlir::Value value, int depth);
  mlir::FailureOr<Tensor> weightValue(LoadOp load);

  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::StringAttr, Tensor> read;   ///< null: not to be had
  std::map<std::string, mlir::StringAttr> created; ///< by type and hash of the elements
};

} // namespace weft

#endif // WEFT_PASSES_IMPORT_CONSTANTS_H
