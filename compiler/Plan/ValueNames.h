//===- ValueNames.h - unique names of a function's values -------*- C++ -*-===//
//
// A plan holds values by their source names. Several operations may stem from one source operation,
// whose name belongs to the last of them: the one that makes the value that the source knows. The
// others are told apart by their operation, `h0.up/dot_general`, and a number where that is not
// enough, `h0.up/dot_general~2`. What shows a weight and brings its name, as a transposed one of
// torch.export does, is one of those: the name is the weight's.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PLAN_VALUENAMES_H
#define WEFT_COMPILER_PLAN_VALUENAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <string>
#include <vector>

namespace weft {

class ValueNames {
public:
  explicit ValueNames(mlir::func::FuncOp function);

  /// The value of that name; null if there is none.
  mlir::Value lookup(llvm::StringRef name) const { return values.lookup(name); }
  /// The unique name of an argument or result of the function's body.
  const std::string &get(mlir::Value value) const { return names.find(value)->second; }
  /// The value whose operation replaced the one of that name in a fusion; null if none did.
  mlir::Value findFused(llvm::StringRef name) const { return fused.lookup(name); }
  /// All names, in the order of the function.
  const std::vector<std::string> &all() const { return ordered; }

private:
  void assign(mlir::Value value, const std::string &base, bool last);

  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::StringMap<mlir::Value> values, fused;
  llvm::StringMap<unsigned> counts; ///< of made-up names, by stem
  std::vector<std::string> ordered;
};

/// The names of the values of several functions, each found when it is asked for first. They hold
/// until operations come or go.
class FunctionNames {
public:
  const ValueNames &of(mlir::func::FuncOp function) {
    return functions.try_emplace(function, function).first->second;
  }

private:
  std::map<mlir::Operation *, ValueNames> functions;
};

} // namespace weft

#endif // WEFT_COMPILER_PLAN_VALUENAMES_H
