//===- MapBuilder.h - one function for what is done often -------*- C++ -*-===//
//
// Writes down what is done to the elements of tensors as functions of scalars, each once, which
// weft.map applies. What of it depends on numbers that all have in common, and on nothing else, is
// computed once and before.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_TRAINING_MAPBUILDER_H
#define WEFT_COMPILER_TRAINING_MAPBUILDER_H

#include "dialects/Weft/IR/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

class MapBuilder {
public:
  /// Builds with `b`, between whose calls everything stays in one block, and adds functions to the
  /// symbols' module.
  MapBuilder(mlir::ImplicitLocOpBuilder &b, mlir::SymbolTable &symbols) : b(b), symbols(symbols) {}

  /// What `compute` makes of the elements of operands of one shape, given as scalars. It is asked
  /// once for all operands of the same element types under the same name.
  mlir::SmallVector<mlir::Value>
  map(const std::string &name, mlir::ValueRange operands,
      llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::ValueRange)> compute);

private:
  struct Function {
    mlir::func::FuncOp function;
    mlir::SmallVector<mlir::Value> shared; ///< scalars that it reads besides
  };
  Function build(const std::string &name, mlir::ValueRange operands,
                 llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::ValueRange)> compute);

  mlir::ImplicitLocOpBuilder &b;
  mlir::SymbolTable &symbols;
  std::map<std::pair<std::string, std::vector<const void *>>, Function> functions;
};

} // namespace weft

#endif // WEFT_COMPILER_TRAINING_MAPBUILDER_H
